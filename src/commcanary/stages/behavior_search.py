"""Stage: trace -> the smallest canary that behaves like it, and the ledger of all that was tried."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commcanary.artifacts.canary_exchange import CANARY
from commcanary.artifacts.files import check_suffix, write_artifact
from commcanary.artifacts.jsontext import convert
from commcanary.artifacts.stored import Stored
from commcanary.compile.search import GateOutcome, SearchSpace, search
from commcanary.compile.search_ledger import SEARCH_LEDGER
from commcanary.judge.tolerances import Tolerances
from commcanary.judge.verify_behavior import verify_behavior, worst_error_pct
from commcanary.replay.configuration import Configuration, Protocol
from commcanary.stages.behavior_gate import BehaviorGate
from commcanary.stages.reading import naming, read_trace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from commcanary.artifacts.canary import Canary
    from commcanary.compile.search import SearchResult


SMALLEST_LIMIT = 2
"""Timing records per group that a search tries at least, where nothing else is asked for."""


def ledger_path(output: Path) -> Path:
    """Where the ledger of the canary ``output`` lies."""
    return output.with_suffix(".search.json")


def behavior_search_stage(
    trace_path: Path,
    output: Path,
    gate: BehaviorGate,
    *,
    original_path: Path | None,
    min_sample_limit: int = SMALLEST_LIMIT,
    budget: Mapping[str, float] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> SearchResult:
    """Write the smallest canary of the trace that passes ``gate``, and the ledger beside it.

    Held-out configurations of the gate are replayed and reported, but choose nothing. Raises
    ``IntegrityRefusal`` where no candidate passes; nothing is written then.
    """
    check_suffix(output)
    trace = read_trace(trace_path)
    original = None if original_path is None else read_trace(original_path)
    with naming(trace_path):
        reference = gate.reference(trace, original)

        def accepted(canary: Canary) -> GateOutcome:
            found = verify_behavior(reference, canary, gate.tolerances)
            holds = (
                found.source_verified_status == "source_verified"
                and found.source_coverage_status == "full_source"
                and found.behavioral_fidelity_status == "pass"
                and found.configuration_ranking_status != "fail"
            )
            first = next((r for r in found.reasons if not r.startswith("held out")), None)
            apart = None if found.held_out is None else found.held_out.status
            return GateOutcome(found.status, holds, worst_error_pct(found), None if holds else first, apart)

        result = search(
            trace,
            accepted,
            SearchSpace(min_sample_limit=min_sample_limit),
            budget=budget,
            progress=None if progress is None else lambda done, expected, _candidate: progress(done, expected),
        )
    write_artifact(ledger_path(output), SEARCH_LEDGER, Stored(result.ledger))
    write_artifact(output, CANARY, result.canary.stored)
    return result


def search_batch_stage(
    trace_path: Path,
    output: Path,
    configurations: Sequence[Mapping[str, Any]],
    tolerances: Mapping[str, Any],
    *,
    protocol: Mapping[str, Any],
    model: str,
    assumptions: Mapping[str, float],
) -> SearchResult:
    """The same from plain data, as a campaign's rule has it. What is assumed blocks no candidate of a search."""
    gate = BehaviorGate(
        model,
        convert(configurations, list[Configuration]),
        protocol=convert(protocol, Protocol),
        assumptions=assumptions,
        tolerances=convert(tolerances, Tolerances),
    )
    return behavior_search_stage(trace_path, output, gate, original_path=None)
