"""Stage: trace and canary -> behaviour verification."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commcanary.artifacts.files import check_suffix, write_artifact
from commcanary.artifacts.jsontext import convert
from commcanary.artifacts.stored import Stored
from commcanary.judge.behavior import BEHAVIOR
from commcanary.judge.reference import Reference
from commcanary.judge.tolerances import Tolerances
from commcanary.judge.verify_behavior import verify_behavior
from commcanary.replay.configuration import Configuration, Protocol
from commcanary.stages.reading import naming, read_canary, read_trace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from commcanary.judge.behavior import BehaviorVerification


def verify_behavior_stage(
    trace_path: Path,
    canary_path: Path,
    output: Path,
    configurations: Sequence[Configuration],
    tolerances: Tolerances,
    protocol: Protocol,
    *,
    model: str,
    assumptions: Mapping[str, float],
    held_out: Sequence[Configuration] = (),
) -> BehaviorVerification:
    """Verify that a canary behaves like its source; every outcome is evidence and is written."""
    check_suffix(output)
    trace, canary = read_trace(trace_path), read_canary(canary_path)
    with naming(trace_path):
        reference = Reference(trace, model, configurations, protocol, assumptions=assumptions, held_out=held_out)
    with naming(canary_path):
        verification = verify_behavior(reference, canary, tolerances)
    write_artifact(output, BEHAVIOR, Stored(verification))
    return verification


def verify_batch_stage(
    trace_path: Path,
    canary_path: Path,
    output: Path,
    configurations: Sequence[Mapping[str, Any]],
    tolerances: Mapping[str, Any],
    *,
    protocol: Mapping[str, Any],
    model: str,
    assumptions: Mapping[str, float],
) -> BehaviorVerification:
    """The same from plain data, as a campaign's rule has it."""
    return verify_behavior_stage(
        trace_path,
        canary_path,
        output,
        convert(configurations, list[Configuration]),
        convert(tolerances, Tolerances),
        convert(protocol, Protocol),
        model=model,
        assumptions=assumptions,
    )
