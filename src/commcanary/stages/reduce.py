"""Stage: trace -> the smallest part of it that keeps the ranking of configurations, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.artifacts.files import check_suffix, write_artifact
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.artifacts.trace_table import to_stored
from commcanary.judge.reduction import reduce_to_ranking
from commcanary.judge.reference import Reference
from commcanary.stages.reading import naming, read_trace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from commcanary.judge.reduction import ReducedTrace
    from commcanary.replay.configuration import Configuration, Protocol


def reduce_stage(
    trace_path: Path,
    output: Path,
    configurations: Sequence[Configuration],
    protocol: Protocol,
    *,
    model: str,
    assumptions: Mapping[str, float],
    budget: int,
    tie_us: float,
) -> ReducedTrace:
    """Reduce the trace at ``trace_path`` by delta debugging, at most ``budget`` oracle calls."""
    check_suffix(output)
    trace = read_trace(trace_path)
    with naming(trace_path):
        reference = Reference(trace, model, configurations, protocol, assumptions=assumptions)
        reduced = reduce_to_ranking(reference, budget=budget, tie_us=tie_us)
    write_artifact(output, TRACE, to_stored(reduced.trace))
    return reduced
