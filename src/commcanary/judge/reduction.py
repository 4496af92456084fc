"""reduce TRACE: the smallest part of a trace that still ranks the configurations as the whole does.

It keeps a decision and nothing else: behaviour, bounds and coverage are not asked about, and a canary made
from the result fails all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from commcanary.controls.ddmin import DEFAULT_BUDGET, ddmin
from commcanary.judge.ranking import ranked_metrics, relations
from commcanary.judge.reference import Reference, ranked_values

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from commcanary.artifacts.trace import Trace

REDUCTION_METHOD = "ddmin_ranking"


@dataclass(frozen=True)
class ReducedTrace:
    """The part, with the ledger of the reduction in its ``workload.reduction``, and what finding it cost."""

    trace: Trace
    oracle_calls: int
    budget_exhausted: bool


def reduce_to_ranking(reference: Reference, *, budget: int = DEFAULT_BUDGET, tie_us: float = 0.001) -> ReducedTrace:
    """Delta-debug the reference's trace; kept events keep their own gaps.

    The oracle accepts a part with the same relation for every metric and pair of the reference's
    configurations. Raises ``UnknownValueRefusal`` for unknown values that nobody assumed.
    """
    trace = reference.trace
    values = ranked_values(reference.outcomes)
    wanted = relations(values, tie_us)

    def same_ranking(part: NDArray[np.int64]) -> bool:
        return relations(ranked_values(reference.replayed(trace.events.take(part))), tie_us) == wanted

    found = ddmin(len(trace), same_ranking, budget)
    ledger = {
        "method": REDUCTION_METHOD,
        "original_events": len(trace),
        "reduced_events": len(found.kept),
        "oracle_calls": found.oracle_calls,
        "oracle_call_budget": found.oracle_call_budget,
        "budget_exhausted": found.budget_exhausted,
        "ranking_metrics": list(ranked_metrics(values)),
        "ranking_tie_tolerance_us": tie_us,
        "configurations": list(reference.configurations),
        "timing_sample_limit": None,
    }
    reduced = trace.derived(found.kept, REDUCTION_METHOD, reduction=ledger)
    return ReducedTrace(reduced, found.oracle_calls, found.budget_exhausted)
