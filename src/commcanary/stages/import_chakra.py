"""Stage: execution traces of one job (PyTorch's or Chakra's) -> trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.artifacts.files import check_suffix, write_artifact
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.artifacts.trace_table import to_stored
from commcanary.sources.execution_trace.importer import import_execution_traces

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from commcanary.sources.calls.imported import Imported
    from commcanary.sources.execution_trace.settings import ExecutionTraceSettings


def import_chakra_stage(traces: Sequence[Path], output: Path, settings: ExecutionTraceSettings) -> Imported:
    """Write the trace of ``traces`` (of one rank or of all ranks of one job) to ``output``."""
    check_suffix(output)
    imported = import_execution_traces(traces, settings)
    write_artifact(output, TRACE, to_stored(imported.trace))
    return imported
