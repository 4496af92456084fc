"""The fit of startup and bandwidth, against exact data and against another optimiser."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from commcanary.errors import InputRefusal
from commcanary.timeline.alpha_beta import AlphaBeta, fit_alpha_beta

MIB = 1 << 20


def test_law_of_the_worked_example() -> None:
    law = AlphaBeta(1000.0, 16 * MIB / 1000 / 1000)
    assert law.time_us(96 * MIB) == pytest.approx(7000.0)


@given(st.floats(0, 1e4), st.floats(0.01, 1e4), st.sets(st.integers(0, 2**34), min_size=3, max_size=20))
def test_exact_data_give_back_their_law(startup: float, bandwidth: float, sizes: set[int]) -> None:
    law = AlphaBeta(startup + 0.01, bandwidth)
    ordered = sorted(sizes)
    times = [law.time_us(size) for size in ordered]
    if max(times) < 2 * min(times):
        return  # nothing tells the two numbers apart
    fit = fit_alpha_beta(ordered, times)
    assert [fit.law.time_us(size) for size in ordered] == pytest.approx(times, rel=1e-6)
    assert fit.largest_residual_pct <= 0.001


def test_weighted_fit_and_intervals_against_another_optimiser() -> None:
    draw = np.random.default_rng(7)
    sizes = (2 ** np.arange(10, 28)).astype(float)
    times = (30 + sizes / 50_000) * (1 + 0.05 * draw.standard_normal(len(sizes)))
    fit = fit_alpha_beta([int(s) for s in sizes], times.tolist(), level=0.9)
    found, covariance = optimize.curve_fit(lambda s, a, g: a + g * s / 1e6, sizes, times, p0=(20, 30), sigma=times)
    half = stats.t.ppf(0.95, len(sizes) - 2) * np.sqrt(np.diag(covariance))
    assert fit.law.startup_us == pytest.approx(found[0], rel=1e-6)
    assert fit.law.bandwidth_gb_s == pytest.approx(1e3 / found[1], rel=1e-6)
    assert fit.startup_interval_us == pytest.approx((found[0] - half[0], found[0] + half[0]), abs=2e-3)
    assert fit.bandwidth_interval_gb_s == pytest.approx(
        (1e3 / (found[1] + half[1]), 1e3 / (found[1] - half[1])), abs=2e-3
    )
    assert fit.largest_residual_pct == max(abs(r.residual_pct) for r in fit.residuals)


def test_fastest_of_repeated_sizes_counts() -> None:
    fit = fit_alpha_beta([0, 0, 1000, 1000, 0], [12.0, 10.0, 20.0, 35.0, 11.0])
    assert (fit.law.startup_us, fit.law.bandwidth_gb_s) == pytest.approx((10.0, 0.1))
    assert [(r.bytes, r.repetitions, r.measured_us) for r in fit.residuals] == [(0, 3, 10.0), (1000, 2, 20.0)]


def test_two_sizes_leave_the_intervals_unknown() -> None:
    fit = fit_alpha_beta([0, 1000], [10.0, 20.0])
    assert (fit.startup_interval_us, fit.bandwidth_interval_gb_s) == (None, None)
    assert fit.interval_unknown is not None


def test_bandwidth_that_the_data_do_not_bound() -> None:
    fit = fit_alpha_beta([0, 1000, 2000], [10.0, 13.0, 11.0])
    assert fit.bandwidth_interval_gb_s is not None
    assert fit.bandwidth_interval_gb_s[1] is None


@pytest.mark.parametrize(
    ("sizes", "times", "told"),
    [
        ([1000, 1000], [10.0, 11.0], "1 distinct size"),
        ([0, 1000], [20.0, 10.0], "do not grow"),
        ([1000, 2000], [1.0, 10.0], "startup: comes out as -8.000 us"),
    ],
)
def test_refusals(sizes: list[int], times: list[float], told: str) -> None:
    with pytest.raises(InputRefusal, match=told):
        fit_alpha_beta(sizes, times)
