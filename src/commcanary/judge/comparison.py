"""The comparison: a verdict on a candidate report against a baseline, with every number behind it."""

from __future__ import annotations

import msgspec

from commcanary.artifacts.document import document_kind
from commcanary.judge.thresholds import Thresholds
from commcanary.replay.configuration import Configuration
from commcanary.replay.metrics import ExposedMetrics

COMPARISON_FORMAT = "commcanary.comparison.v1"

PASS, WARN, FAIL = "pass", "warn", "fail"
INCONCLUSIVE = "inconclusive"
UNSTABLE = "unstable"
NOT_GATED = "not_gated"
NEW, GONE = "new", "gone"


class Interval(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Bootstrap interval of a difference candidate - baseline (us; points for hidden communication).

    ``low_pct`` and ``high_pct`` are relative to the baseline, null where it is 0. ``margin_low`` and
    ``margin_high`` are about the difference minus what its threshold allows: above 0 is too slow.
    """

    low: float
    high: float
    low_pct: float | None
    high_pct: float | None
    margin_low: float
    margin_high: float


class Evaluation(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One number of both reports. ``scope`` is run, phase or operation; ``name`` which one of them.

    ``threshold_result`` is pass, warn, fail, inconclusive, not_gated (over its percentage, under its floor),
    new or gone (a row that only one report has: all numbers null).
    """

    metric: str
    scope: str
    name: str | None
    baseline: float | None
    candidate: float | None
    absolute_delta: float | None
    relative_delta_pct: float | None
    threshold_pct: float | None
    absolute_threshold_us: float | None
    threshold_points: float | None
    threshold_result: str
    interval: Interval | None = None


class Side(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of the two reports."""

    content_id: str
    backend: Configuration
    metrics: ExposedMetrics


class Mismatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that must agree before two reports may be compared, as text of both sides."""

    field: str
    baseline: str
    candidate: str


class Compatibility(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``status`` is compatible, or mismatch where --allow-mismatch let it pass."""

    status: str
    mismatches: tuple[Mismatch, ...] = ()


class Confidence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the intervals were made. A run is one (seed, iteration); ``paired`` where both sides' seeds agree."""

    level: float
    resamples: int
    seed: int
    baseline_runs: int
    candidate_runs: int
    paired: bool


class Stability(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How one side's median moves from run to run: relative IQR, and the dip test for two modes.

    ``dip`` and ``dip_p_value`` are null where the runs hardly differ, so that modes could not matter.
    """

    side: str
    runs: int
    relative_iqr_pct: float
    dip: float | None
    dip_p_value: float | None
    outcome: str


class Comparison(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    kw_only=True,
    tag_field="format",
    tag=COMPARISON_FORMAT,
):
    """``verdict`` is pass, warn, fail, inconclusive or unstable; ``reasons`` stand worst first."""

    verdict: str
    reasons: tuple[str, ...]
    not_gated: tuple[str, ...]
    thresholds: Thresholds
    compatibility: Compatibility
    baseline: Side
    candidate: Side
    delta: dict[str, float]
    evaluations: tuple[Evaluation, ...]
    confidence: Confidence | None = None
    stability: tuple[Stability, ...] = ()


COMPARISON = document_kind("comparison", COMPARISON_FORMAT, Comparison)
"""The comparison as an artifact kind."""
