"""Quantiles, means and breakdowns against hand calculation."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commcanary.artifacts.events import ProcessGroup
from commcanary.replay.metrics import latency_summary, ordered_sum, quantile, summarise
from commcanary.replay.samples import Samples

from .programs import events_of, kind

GROUP = (ProcessGroup("g", 2),)


def samples_of(exposed: list[float], total: list[float] | None = None) -> Samples:
    n = len(exposed)
    columns = [exposed, total or exposed, [0.5] * n, [4.0 * i for i in range(n)], [2.0 * i for i in range(n)]]
    return Samples(*(np.array(column, dtype=np.float64) for column in columns))


@pytest.mark.parametrize(
    ("values", "p", "expected"),
    [
        ([], 50, 0.0),
        ([3.0], 99, 3.0),
        ([4.0, 1.0], 50, 2.5),
        ([30.0, 10.0, 20.0], 50, 20.0),
        ([1.0, 2.0, 3.0, 4.0, 5.0], 95, 4.8),  # t = 3.8
        ([1.0, 2.0, 3.0, 4.0, 5.0], 100, 5.0),
        (list(range(101)), 99, 99.0),
    ],
)
def test_quantile_by_hand(values: list[float], p: float, expected: float) -> None:
    assert quantile(values, p) == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=50), st.integers(0, 100))
def test_quantile_against_exact_arithmetic(values: list[int], p: int) -> None:
    ordered = sorted(values)
    t = Fraction((len(values) - 1) * p, 100)
    low = int(t)
    high = min(low + 1, len(values) - 1)
    exact = ordered[low] * (1 - (t - low)) + ordered[high] * (t - low)
    assert quantile(values, p) == pytest.approx(float(exact), rel=1e-12, abs=1e-3)


def test_sums_run_from_left_to_right() -> None:
    values = np.array([1e16] + [1.0] * 4096)
    plain = 0.0
    for value in values:
        plain += float(value)
    assert ordered_sum(values) == plain == 1e16
    assert float(np.sum(values)) != plain  # pairwise: what must not be used


def test_the_mean_adds_the_sorted_values() -> None:
    assert latency_summary(np.array([1e16, 1.0, 1.0])).mean_us == round((1.0 + 1.0 + 1e16) / 3, 3)


def test_a_summary_by_hand() -> None:
    summary = latency_summary(np.array([5.0, 1.0, 2.0006, 4.0, 3.0]))
    assert (summary.count, summary.median_us, summary.max_us, summary.mean_us) == (5, 3.0, 5.0, 3.0)
    assert (summary.p95_us, summary.p99_us) == (4.8, 4.96)


def test_pooled_metrics_and_breakdowns() -> None:
    rows = [
        {"signature": kind("broadcast", 8, phase="b")},
        {"signature": kind("all_reduce", 8, phase="a")},
        {"signature": kind("broadcast", 8, phase="a")},
    ]
    events = events_of(rows, GROUP)
    found = summarise(samples_of([1, 2, 3, 10, 20, 30], [2, 2, 3, 20, 20, 30]), events)
    assert found.metrics.count == 6
    assert found.metrics.median_us == 6.5
    assert found.metrics.communication_hidden_pct == round(100 * 11 / 77, 2)
    assert (found.metrics.arrival_skew_median_us, found.metrics.arrival_skew_max_us) == (10.0, 20.0)
    assert found.metrics.arrival_skew_p95_us == 19.0
    assert found.metrics.avg_rank_wait_median_us == 5.0
    assert (found.queue_wait.median_us, found.queue_wait.count) == (0.5, 6)
    assert [(row.name, row.count, row.median_us) for row in found.by_phase] == [("a", 4, 11.5), ("b", 2, 5.5)]
    assert [(row.name, row.mean_us) for row in found.by_op] == [("all_reduce", 11.0), ("broadcast", 11.0)]
    assert found.calibration is None


def test_breakdowns_follow_reordered_samples() -> None:
    rows = [
        {"signature": kind("broadcast", 8, phase="z"), "observed_exposed_ns": 1000},
        {"signature": kind("broadcast", 8, phase="a"), "observed_exposed_ns": 7000},
    ]
    events = events_of(rows, GROUP)
    found = summarise(samples_of([7.0, 1.0]), events, ("operation_ordering",))  # replayed: phase a first
    assert [(row.name, row.max_us) for row in found.by_phase] == [("a", 7.0), ("z", 1.0)]
    assert found.calibration is not None
    assert found.calibration.max_absolute_error_us == 0.0


def test_calibration_by_hand() -> None:
    rows = [{"signature": kind("broadcast", 8), "observed_exposed_ns": ns} for ns in (0, 1000, 4000)]
    found = summarise(samples_of([1, 2, 2, 3, 0, 4]), events_of(rows, GROUP)).calibration
    assert found is not None  # errors: 1, 1, -2, 3, -1, 0
    assert found.count == 6
    assert found.mean_absolute_error_us == round(8 / 6, 3)
    assert found.median_absolute_error_us == 1.0
    assert found.p95_absolute_error_us == 2.75
    assert found.max_absolute_error_us == 3.0
    assert found.mean_bias_us == round(2 / 6, 3)
    assert found.percentage_count == 4
    assert found.mean_absolute_percentage_error_pct == round((100 + 50 + 100 + 0) / 4, 3)


def test_calibration_is_null_where_nothing_was_observed_or_it_is_ablated() -> None:
    zero = events_of([{"signature": kind("broadcast", 8), "observed_exposed_ns": 0}], GROUP)
    found = summarise(samples_of([1.0]), zero).calibration
    assert found is not None
    assert found.mean_absolute_percentage_error_pct is None
    assert summarise(samples_of([1.0]), zero, ("observed_exposed",)).calibration is None


def test_nothing_hidden_of_nothing() -> None:
    events = events_of([{"signature": kind("broadcast", 8)}], GROUP)
    assert summarise(samples_of([0.0]), events).metrics.communication_hidden_pct == 0.0
