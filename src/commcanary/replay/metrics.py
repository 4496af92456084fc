"""What a report says about its samples. One written quantile, one written mean; rounded only here."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from commcanary.replay.ordering import replayed_order
from commcanary.units import r2, r3, us_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from commcanary.artifacts.events import Events
    from commcanary.replay.samples import Samples

QUANTILE_METHOD = "linear"
"""NumPy's name for the rule that ``quantile`` writes out."""


class LatencySummary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Count and five statistics in us, three decimals."""

    count: int
    median_us: float
    p95_us: float
    p99_us: float
    max_us: float
    mean_us: float


class NamedSummary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The summary of one phase or operation."""

    name: str
    count: int
    median_us: float
    p95_us: float
    p99_us: float
    max_us: float
    mean_us: float


class ExposedMetrics(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The summary of exposed latency, what share of communication was hidden, and the arrivals."""

    count: int
    median_us: float
    p95_us: float
    p99_us: float
    max_us: float
    mean_us: float
    communication_hidden_pct: float
    arrival_skew_median_us: float
    arrival_skew_p95_us: float
    arrival_skew_max_us: float
    avg_rank_wait_median_us: float


class Calibration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far replayed exposed latency is from the observed one; error = replayed - observed.

    ``percentage_count`` samples have an observed value above 0; without any, the percentage is null.
    """

    count: int
    mean_absolute_error_us: float
    median_absolute_error_us: float
    p95_absolute_error_us: float
    max_absolute_error_us: float
    mean_bias_us: float
    mean_absolute_percentage_error_pct: float | None
    percentage_count: int


class Metrics(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that a report says about its samples."""

    metrics: ExposedMetrics
    queue_wait: LatencySummary
    by_phase: tuple[NamedSummary, ...]
    by_op: tuple[NamedSummary, ...]
    calibration: Calibration | None


def summarise(samples: Samples, events: Events, ablations: tuple[str, ...] = ()) -> Metrics:
    """Metrics of ``samples`` of ``events``, all seeds and iterations pooled.

    ``len(samples)`` is a multiple of ``len(events)``; ``ablations`` are those of the replay, because they
    decide the order of the samples and whether observed latencies were carried.
    """
    order = replayed_order(events, ablations)
    runs = len(samples) // len(events) if len(events) else 0
    hidden = ordered_sum(samples.total_us - samples.exposed_us)
    total = ordered_sum(samples.total_us)
    skew = np.sort(samples.skew_us)
    exposed = latency_summary(samples.exposed_us)
    return Metrics(
        metrics=ExposedMetrics(
            **msgspec.structs.asdict(exposed),
            communication_hidden_pct=r2(100 * hidden / total) if total else 0.0,
            arrival_skew_median_us=r3(sorted_quantile(skew, 50)),
            arrival_skew_p95_us=r3(sorted_quantile(skew, 95)),
            arrival_skew_max_us=r3(sorted_quantile(skew, 100)),
            avg_rank_wait_median_us=r3(quantile(samples.rank_wait_us, 50)),
        ),
        queue_wait=latency_summary(samples.queue_wait_us),
        by_phase=_breakdown(samples, events, [s.phase for s in events.signatures], order, runs),
        by_op=_breakdown(samples, events, [s.op for s in events.signatures], order, runs),
        calibration=None if "observed_exposed" in ablations else _calibrate(samples, events, order, runs),
    )


def quantile(values: ArrayLike, p: float) -> float:
    """The ``p``-th percentile (0 to 100) of ``values``, interpolated linearly; 0.0 of nothing."""
    return sorted_quantile(np.sort(np.asarray(values, dtype=np.float64)), p)


def sorted_quantile(ordered: NDArray[np.float64], p: float) -> float:
    """``quantile`` of values that are sorted already."""
    if not len(ordered):
        return 0.0
    t = (len(ordered) - 1) * p / 100
    low, high = math.floor(t), math.ceil(t)
    if low == high:
        return float(ordered[low])
    w = t - low
    return float(ordered[low]) * (1 - w) + float(ordered[high]) * w


def latency_summary(values: NDArray[np.float64]) -> LatencySummary:
    """Count, median, p95, p99, maximum and mean; all 0 of nothing."""
    ordered = np.sort(values)
    return LatencySummary(
        count=len(ordered),
        median_us=r3(sorted_quantile(ordered, 50)),
        p95_us=r3(sorted_quantile(ordered, 95)),
        p99_us=r3(sorted_quantile(ordered, 99)),
        max_us=r3(sorted_quantile(ordered, 100)),
        mean_us=r3(_mean(ordered)),
    )


def ordered_sum(values: NDArray[np.float64]) -> float:
    """The sum from left to right, as a loop would add (``np.sum`` adds in pairs)."""
    return float(np.cumsum(values)[-1]) if len(values) else 0.0


def _mean(ordered: NDArray[np.float64]) -> float:
    return ordered_sum(ordered) / len(ordered) if len(ordered) else 0.0


def _breakdown(
    samples: Samples, events: Events, labels: list[str], order: NDArray[np.int64], runs: int
) -> tuple[NamedSummary, ...]:
    """One summary per label that occurs, sorted by label; ``labels`` has one entry per signature."""
    names = sorted(set(labels))
    code = np.array([names.index(label) for label in labels], dtype=np.int64)[events.signature[order]]
    exposed = samples.exposed_us.reshape(runs, len(events))
    parts = ((name, latency_summary(exposed[:, code == i].ravel())) for i, name in enumerate(names))
    return tuple(NamedSummary(name, **msgspec.structs.asdict(part)) for name, part in parts if part.count)


def _calibrate(samples: Samples, events: Events, order: NDArray[np.int64], runs: int) -> Calibration | None:
    observed_ns = events.observed_exposed_ns[order]
    known = observed_ns >= 0
    if not known.any() or not runs:
        return None
    observed = np.tile(us_array(observed_ns[known]), runs)
    error = samples.exposed_us.reshape(runs, len(events))[:, known].ravel() - observed
    absolute = np.sort(np.abs(error))
    positive = observed > 0
    percentages = np.sort(np.abs(error[positive]) / observed[positive] * 100)
    return Calibration(
        count=len(absolute),
        mean_absolute_error_us=r3(_mean(absolute)),
        median_absolute_error_us=r3(sorted_quantile(absolute, 50)),
        p95_absolute_error_us=r3(sorted_quantile(absolute, 95)),
        max_absolute_error_us=r3(sorted_quantile(absolute, 100)),
        mean_bias_us=r3(_mean(np.sort(error))),
        mean_absolute_percentage_error_pct=r3(_mean(percentages)) if len(percentages) else None,
        percentage_count=len(percentages),
    )
