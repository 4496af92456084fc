"""What a replay loses when one aspect of the workload is left out, configuration by configuration.

The whole trace, replayed without skew (or overlap, order, tails, gaps, pressure), against itself with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from commcanary.artifacts.document import document_kind
from commcanary.judge.behavior_checks import STATISTICS, behavior_under, failures
from commcanary.judge.ranking import rank
from commcanary.judge.reference import ranked_values
from commcanary.judge.tolerances import Tolerances
from commcanary.units import r3

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commcanary.judge.reference import Outcome, Reference

ABLATION_COSTS_FORMAT = "commcanary.ablation_costs.v1"


class AblationCost(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``errors_pct`` maps a statistic to its largest relative error over the configurations (null where the
    whole trace has 0 and the ablated one has not). ``failed_checks`` counts checks outside the tolerances.
    """

    ablation: str
    ranking_agreement: float | None
    kendall_tau_b: float | None
    errors_pct: dict[str, float | None]
    hidden_error_points: float
    failed_checks: int


class AblationCosts(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    kw_only=True,
    tag_field="format",
    tag=ABLATION_COSTS_FORMAT,
):
    """One row an ablation. ``trace`` is a content id."""

    trace: str
    model: str
    configurations: tuple[str, ...]
    tolerances: Tolerances
    costs: tuple[AblationCost, ...]


ABLATION_COSTS = document_kind("ablation costs", ABLATION_COSTS_FORMAT, AblationCosts)
"""The ablation costs as an artifact kind."""


def ablation_costs(
    reference: Reference, ablations: Sequence[str], tolerances: Tolerances | None = None
) -> AblationCosts:
    """Replay the reference's trace once per ablation (on top of its protocol's) and compare with the whole.

    Raises ``InputRefusal`` for an unknown ablation.
    """
    tolerances = tolerances or Tolerances()
    return AblationCosts(
        trace=reference.trace.content_id,
        model=reference.model.name,
        configurations=tuple(reference.configurations),
        tolerances=tolerances,
        costs=tuple(_cost(reference, name, tolerances) for name in ablations),
    )


def _cost(reference: Reference, ablation: str, tolerances: Tolerances) -> AblationCost:
    together = tuple(sorted({*reference.protocol.ablations, ablation}))
    without = reference.replayed(reference.trace.events, together)
    ranking = rank(ranked_values(reference.outcomes), ranked_values(without), tolerances.ranking_tie_us)
    pairs = [(reference.outcomes[name], without[name]) for name in reference.configurations]
    failed = sum(
        len(list(failures(behavior_under(name, configuration, reference.outcomes[name], without[name], tolerances))))
        for name, configuration in reference.configurations.items()
    )
    return AblationCost(
        ablation=ablation,
        ranking_agreement=ranking.agreement,
        kendall_tau_b=ranking.kendall_tau_b,
        errors_pct={name: _largest_error(pairs, name) for name in STATISTICS},
        hidden_error_points=r3(max(abs(_hidden(ours) - _hidden(theirs)) for ours, theirs in pairs)),
        failed_checks=failed,
    )


def _largest_error(pairs: list[tuple[Outcome, Outcome]], statistic: str) -> float | None:
    largest = 0.0
    for ours, theirs in pairs:
        source, ablated = (getattr(side.metrics.metrics, statistic) for side in (ours, theirs))
        if source == 0 and ablated != 0:
            return None
        largest = max(largest, 100 * abs(ablated - source) / source if source else 0.0)
    return r3(largest)


def _hidden(outcome: Outcome) -> float:
    return outcome.metrics.metrics.communication_hidden_pct
