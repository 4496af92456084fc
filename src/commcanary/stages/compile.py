"""Stage: trace -> canary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.canary_exchange import CANARY
from commcanary.artifacts.files import check_suffix, write_artifact
from commcanary.compile.compiler import compile_trace
from commcanary.errors import UsageError
from commcanary.stages.behavior_gate import require_verified
from commcanary.stages.reading import naming, read_trace

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.artifacts.canary import Canary
    from commcanary.artifacts.trace import Trace
    from commcanary.compile.compiler import CompileSettings
    from commcanary.stages.behavior_gate import BehaviorGate


def compile_stage(
    trace_path: Path,
    output: Path,
    settings: CompileSettings,
    *,
    max_events: int | None = None,
    gate: BehaviorGate | None = None,
    original_path: Path | None = None,
) -> Canary:
    """Compile the trace at ``trace_path`` into a canary at ``output``.

    ``max_events`` cuts the trace to its first events; the canary then says ``partial_source``. With ``gate``
    the canary must behave like the trace, or like the one at ``original_path`` where the trace was derived
    from it. Raises ``Refusal`` for a bad trace, a budget that cannot be met or a gate that is not passed;
    nothing is written then.
    """
    check_suffix(output)
    trace = read_trace(trace_path)
    original = None if original_path is None else read_trace(original_path)
    with naming(trace_path):
        compiled = trace if max_events is None else first_events(trace, max_events)
        reference = None if gate is None else gate.reference(compiled, original)
        canary = compile_trace(compiled, settings)
        if gate is not None and reference is not None:
            require_verified(gate, reference, canary)
    write_artifact(output, CANARY, canary.stored)
    return canary


def first_events(trace: Trace, count: int) -> Trace:
    """The first ``count`` events, as a trace whose lineage names the whole one."""
    if count < 1:
        raise UsageError(f"--max-events is {count}; give 1 or more")
    if count >= len(trace):
        return trace
    return trace.derived(np.arange(count, dtype=np.int64), "first-events")
