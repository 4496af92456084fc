"""Stage: trace -> what each aspect of it is worth, left out one at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commcanary.artifacts.files import check_suffix, write_artifact
from commcanary.artifacts.jsontext import convert
from commcanary.artifacts.stored import Stored
from commcanary.judge.ablation import ABLATION_COSTS, ablation_costs
from commcanary.judge.reference import Reference
from commcanary.judge.tolerances import Tolerances
from commcanary.replay.configuration import Configuration, Protocol
from commcanary.stages.reading import naming, read_trace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from commcanary.judge.ablation import AblationCosts


def ablate_stage(
    trace_path: Path,
    output: Path,
    ablations: Sequence[str],
    configurations: Sequence[Mapping[str, Any]],
    tolerances: Mapping[str, Any],
    *,
    protocol: Mapping[str, Any],
    model: str,
    assumptions: Mapping[str, float],
) -> AblationCosts:
    """Replay a trace once per ablation and write what each costs; settings come as plain data."""
    check_suffix(output)
    trace = read_trace(trace_path)
    with naming(trace_path):
        reference = Reference(
            trace,
            model,
            convert(configurations, list[Configuration]),
            convert(protocol, Protocol),
            assumptions=assumptions,
        )
        costs = ablation_costs(reference, ablations, convert(tolerances, Tolerances))
    write_artifact(output, ABLATION_COSTS, Stored(costs))
    return costs
