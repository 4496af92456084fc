"""Stage: Nsight Systems exports of one job -> trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.artifacts.files import check_suffix, write_artifact
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.artifacts.trace_table import to_stored
from commcanary.sources.nsys.importer import import_nsys

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from commcanary.sources.calls.imported import Imported
    from commcanary.sources.nsys.settings import NsysSettings


def import_nsys_stage(exports: Sequence[Path], output: Path, settings: NsysSettings) -> Imported:
    """Write the trace of ``exports`` (of one node or of all nodes of one job) to ``output``."""
    check_suffix(output)
    imported = import_nsys(exports, settings)
    write_artifact(output, TRACE, to_stored(imported.trace))
    return imported
