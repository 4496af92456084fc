"""Stage: NCCL Inspector files of one job -> trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.artifacts.files import check_suffix, write_artifact
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.artifacts.trace_table import to_stored
from commcanary.sources.nccl_inspector.importer import import_nccl_inspector

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from commcanary.sources.calls.imported import Imported
    from commcanary.sources.nccl_inspector.settings import NcclInspectorSettings


def import_nccl_inspector_stage(files: Sequence[Path], output: Path, settings: NcclInspectorSettings) -> Imported:
    """Write the trace of ``files`` (of one process or of all processes of one job) to ``output``."""
    check_suffix(output)
    imported = import_nccl_inspector(files, settings)
    write_artifact(output, TRACE, to_stored(imported.trace))
    return imported
