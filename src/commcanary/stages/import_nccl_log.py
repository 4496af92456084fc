"""Stage: NCCL debug logs of one job -> trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.artifacts.files import check_suffix, write_artifact
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.artifacts.trace_table import to_stored
from commcanary.sources.nccl_log.importer import import_nccl_log

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from commcanary.sources.calls.imported import Imported
    from commcanary.sources.nccl_log.settings import NcclLogSettings


def import_nccl_log_stage(logs: Sequence[Path], output: Path, settings: NcclLogSettings) -> Imported:
    """Write the trace of ``logs`` (of one process or of all processes of one job) to ``output``."""
    check_suffix(output)
    imported = import_nccl_log(logs, settings)
    write_artifact(output, TRACE, to_stored(imported.trace))
    return imported
