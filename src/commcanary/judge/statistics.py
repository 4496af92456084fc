"""Does a representation decide about configurations as its source does?

A decision is one comparison of a configuration with the baseline configuration: fail is a regression, pass
and warn are none, inconclusive and unstable are undecided. Where the source itself is within the tie band of
its threshold, a representation that decides otherwise is not called wrong.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from commcanary.artifacts.document import document_kind
from commcanary.errors import InputRefusal
from commcanary.judge.comparison import FAIL, INCONCLUSIVE, UNSTABLE, Interval
from commcanary.judge.evaluate import HIDDEN
from commcanary.units import r3

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commcanary.judge.comparison import Comparison, Evaluation

DECISIONS_FORMAT = "commcanary.decisions.v1"

TRUE_POSITIVE, TRUE_NEGATIVE = "true_positive", "true_negative"
FALSE_POSITIVE, FALSE_NEGATIVE = "false_positive", "false_negative"
TIE_BAND = "tie_band"
UNDECIDED = "undecided"

INTERVAL_LEVEL = 0.95


class Decision(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What source and representation decide about one configuration.

    ``source_margin_points`` is how far the source's worst number is over (above 0) or under its threshold, in
    percent of the baseline (points for the hidden share); null where that is not finite. Deltas are those of
    p99, with their intervals where the comparisons have them.
    """

    configuration: str
    outcome: str
    source_verdict: str
    representation_verdict: str
    source_margin_points: float | None
    source_p99_delta_us: float
    representation_p99_delta_us: float
    source_p99_interval: Interval | None
    representation_p99_interval: Interval | None


class DecisionStatistics(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="format", tag=DECISIONS_FORMAT
):
    """Decisions counted. ``agreement`` is over decided configurations outside the tie band, with its Wilson
    interval at 95 %; null where there are none. ``mismatched`` counts comparisons whose sides do not belong
    together, ``one_sided`` configurations that only source or representation has.
    """

    representation: str
    runs: int
    tie_band_points: float
    decisions: tuple[Decision, ...]
    true_positives: int
    true_negatives: int
    false_positives: int
    false_negatives: int
    in_tie_band: int
    undecided: int
    mismatched: int
    one_sided: tuple[str, ...]
    agreement: float | None
    agreement_low: float | None
    agreement_high: float | None


DECISIONS = document_kind("decision statistics", DECISIONS_FORMAT, DecisionStatistics)
"""The decision statistics as an artifact kind."""


def decision_statistics(
    representation: str,
    source: Mapping[str, Comparison],
    represented: Mapping[str, Comparison],
    *,
    runs: int,
    tie_band_points: float = 1.0,
) -> DecisionStatistics:
    """Count how often ``represented`` decides like ``source``; both map configuration -> comparison.

    ``runs`` is the number of (seed, iteration) runs of every report. Raises ``InputRefusal`` for a negative
    tie band.
    """
    if not (tie_band_points >= 0 and math.isfinite(tie_band_points)):
        raise InputRefusal("tie_band_points", f"is {tie_band_points}", "give a finite number of 0 or more")
    shared = [name for name in source if name in represented]
    decisions = tuple(_decision(name, source[name], represented[name], tie_band_points) for name in shared)
    count = {
        outcome: sum(decision.outcome == outcome for decision in decisions)
        for outcome in (TRUE_POSITIVE, TRUE_NEGATIVE, FALSE_POSITIVE, FALSE_NEGATIVE, TIE_BAND, UNDECIDED)
    }
    agreed = count[TRUE_POSITIVE] + count[TRUE_NEGATIVE]
    decided = agreed + count[FALSE_POSITIVE] + count[FALSE_NEGATIVE]
    low, high = wilson(agreed, decided)
    pairs = [side[name] for name in shared for side in (source, represented)]
    return DecisionStatistics(
        representation=representation,
        runs=runs,
        tie_band_points=tie_band_points,
        decisions=decisions,
        true_positives=count[TRUE_POSITIVE],
        true_negatives=count[TRUE_NEGATIVE],
        false_positives=count[FALSE_POSITIVE],
        false_negatives=count[FALSE_NEGATIVE],
        in_tie_band=count[TIE_BAND],
        undecided=count[UNDECIDED],
        mismatched=sum(comparison.compatibility.status != "compatible" for comparison in pairs),
        one_sided=tuple(sorted(source.keys() ^ represented.keys())),
        agreement=round(agreed / decided, 6) if decided else None,
        agreement_low=low,
        agreement_high=high,
    )


def wilson(successes: int, trials: int) -> tuple[float | None, float | None]:
    """The Wilson score interval of a share at ``INTERVAL_LEVEL``; nulls of no trial."""
    if trials == 0:
        return None, None
    from scipy.stats import binomtest  # heavy: only where a share is quoted

    found = binomtest(successes, trials).proportion_ci(confidence_level=INTERVAL_LEVEL, method="wilson")
    return round(float(found.low), 6), round(float(found.high), 6)


def margin_points(comparison: Comparison) -> float:
    """How far the worst number is over its threshold, in percent of the baseline (points for the hidden share)."""
    return max((_margin(e) for e in comparison.evaluations), default=-math.inf)


def _margin(e: Evaluation) -> float:
    if e.baseline is None or e.candidate is None or e.absolute_delta is None:
        return -math.inf  # a row on one side only warns; it decides nothing
    if e.metric == HIDDEN:
        return -e.absolute_delta - (e.threshold_points or 0.0)
    over_floor = e.absolute_delta - (e.absolute_threshold_us or 0.0)
    if e.relative_delta_pct is None:
        return math.inf if over_floor > 0 else -math.inf
    return min(e.relative_delta_pct - (e.threshold_pct or 0.0), 100 * over_floor / e.baseline)


def _decision(name: str, source: Comparison, represented: Comparison, band: float) -> Decision:
    margin = margin_points(source)
    ours, theirs = _p99(source), _p99(represented)
    return Decision(
        configuration=name,
        outcome=_outcome(source.verdict, represented.verdict, abs(margin) <= band),
        source_verdict=source.verdict,
        representation_verdict=represented.verdict,
        source_margin_points=r3(margin) if math.isfinite(margin) else None,
        source_p99_delta_us=ours.absolute_delta or 0.0,
        representation_p99_delta_us=theirs.absolute_delta or 0.0,
        source_p99_interval=ours.interval,
        representation_p99_interval=theirs.interval,
    )


def _outcome(source: str, represented: str, tie: bool) -> str:
    if {source, represented} & {INCONCLUSIVE, UNSTABLE}:
        return UNDECIDED
    if tie and (source == FAIL) != (represented == FAIL):
        return TIE_BAND
    if source == FAIL:
        return TRUE_POSITIVE if represented == FAIL else FALSE_NEGATIVE
    return FALSE_POSITIVE if represented == FAIL else TRUE_NEGATIVE


def _p99(comparison: Comparison) -> Evaluation:
    return next(e for e in comparison.evaluations if e.scope == "run" and e.metric == "p99")
