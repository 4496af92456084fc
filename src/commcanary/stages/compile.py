"""Stage: trace -> canary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.canary_exchange import CANARY
from commcanary.artifacts.files import check_suffix, write_artifact
from commcanary.compile.compiler import compile_trace
from commcanary.errors import UsageError
from commcanary.stages.reading import naming, read_trace

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.artifacts.canary import Canary
    from commcanary.artifacts.trace import Trace
    from commcanary.compile.compiler import CompileSettings


def compile_stage(
    trace_path: Path, output: Path, settings: CompileSettings, *, max_events: int | None = None
) -> Canary:
    """Compile the trace at ``trace_path`` into a canary at ``output``.

    ``max_events`` cuts the trace to its first events; the canary then says ``partial_source``. Raises
    ``Refusal`` for a bad trace or a budget that cannot be met; nothing is written then.
    """
    check_suffix(output)
    trace = read_trace(trace_path)
    with naming(trace_path):
        canary = compile_trace(trace if max_events is None else first_events(trace, max_events), settings)
    write_artifact(output, CANARY, canary.stored)
    return canary


def first_events(trace: Trace, count: int) -> Trace:
    """The first ``count`` events, as a trace whose lineage names the whole one."""
    if count < 1:
        raise UsageError(f"--max-events is {count}; give 1 or more")
    if count >= len(trace):
        return trace
    return trace.derived(np.arange(count, dtype=np.int64), "first-events")
