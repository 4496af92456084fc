"""Which of two configurations is faster, and whether source and canary say the same."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

import msgspec

from commcanary.units import r9

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RANKING_METRICS = ("median_us", "p95_us", "p99_us", "mean_us")
"""Of exposed latency; a model with schedules adds ``MAKESPAN_US``."""

MAKESPAN_US = "makespan_us"

TIE, LEFT, RIGHT = "tie", "left", "right"
"""``left``: the first configuration of the pair is faster."""

NOT_APPLICABLE = "not_applicable"
"""The status of a ranking of fewer than two configurations."""

_SIGN = {LEFT: -1, TIE: 0, RIGHT: 1}


class Pair(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The relation of two configurations by one metric. Deltas are left - right in us."""

    metric: str
    left: str
    right: str
    status: str
    source_relation: str
    canary_relation: str
    source_delta_us: float
    canary_delta_us: float


class Order(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Configurations by one metric, fastest first, ties by name."""

    metric: str
    source: tuple[str, ...]
    canary: tuple[str, ...]
    kendall_tau_b: float | None


class Ranking(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``agreement`` is the share of pairs with the same relation; Kendall's tau-b is over all of them.

    Both are null where there is no pair; tau-b also where one side ties every pair.
    """

    status: str
    agreement: float | None
    kendall_tau_b: float | None
    passed_pairs: int
    total_pairs: int
    tie_tolerance_us: float
    orders: tuple[Order, ...]
    pairwise: tuple[Pair, ...]


def relation(left: float, right: float, tie_us: float) -> str:
    """``tie`` within ``tie_us``, else which side is smaller."""
    delta = r9(left - right)
    if abs(delta) <= tie_us:
        return TIE
    return LEFT if delta < 0 else RIGHT


def ranked_metrics(values: Mapping[str, Mapping[str, float]]) -> tuple[str, ...]:
    """The metrics that configurations are ranked by: those of the first one."""
    return next((tuple(metrics) for metrics in values.values()), RANKING_METRICS)


def relations(values: Mapping[str, Mapping[str, float]], tie_us: float) -> tuple[str, ...]:
    """The relation of every unordered pair of configurations by every metric.

    ``values`` maps configuration -> metric -> us; pairs in the order of its keys, metric by metric.
    """
    return tuple(
        relation(values[left][metric], values[right][metric], tie_us)
        for metric in ranked_metrics(values)
        for left, right in combinations(values, 2)
    )


def rank(
    source: Mapping[str, Mapping[str, float]], canary: Mapping[str, Mapping[str, float]], tie_us: float
) -> Ranking:
    """Both sides' relations side by side; both map the same configurations to their metrics."""
    pairwise = tuple(
        _pair(metric, left, right, source, canary, tie_us)
        for metric in ranked_metrics(source)
        for left, right in combinations(source, 2)
    )
    passed = sum(pair.status == "pass" for pair in pairwise)
    total = len(pairwise)
    return Ranking(
        status=NOT_APPLICABLE if not total else "pass" if passed == total else "fail",
        agreement=round(passed / total, 6) if total else None,
        kendall_tau_b=kendall_tau_b(pairwise),
        passed_pairs=passed,
        total_pairs=total,
        tie_tolerance_us=tie_us,
        orders=tuple(
            Order(
                metric,
                _order(source, metric),
                _order(canary, metric),
                kendall_tau_b([pair for pair in pairwise if pair.metric == metric]),
            )
            for metric in ranked_metrics(source)
        ),
        pairwise=pairwise,
    )


def kendall_tau_b(pairs: Sequence[Pair]) -> float | None:
    """Concordant minus discordant pairs over the geometric mean of the pairs that each side does not tie."""
    products = [(_SIGN[p.source_relation], _SIGN[p.canary_relation]) for p in pairs]
    untied = [sum(s != 0 for s, _ in products), sum(c != 0 for _, c in products)]
    if not all(untied):
        return None
    return round(sum(s * c for s, c in products) / math.sqrt(untied[0] * untied[1]), 6)


def _pair(
    metric: str,
    left: str,
    right: str,
    source: Mapping[str, Mapping[str, float]],
    canary: Mapping[str, Mapping[str, float]],
    tie_us: float,
) -> Pair:
    ours, theirs = (relation(side[left][metric], side[right][metric], tie_us) for side in (source, canary))
    return Pair(
        metric=metric,
        left=left,
        right=right,
        status="pass" if ours == theirs else "fail",
        source_relation=ours,
        canary_relation=theirs,
        source_delta_us=r9(source[left][metric] - source[right][metric]),
        canary_delta_us=r9(canary[left][metric] - canary[right][metric]),
    )


def _order(values: Mapping[str, Mapping[str, float]], metric: str) -> tuple[str, ...]:
    return tuple(sorted(values, key=lambda name: (values[name][metric], name)))
