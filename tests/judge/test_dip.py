"""The dip against its definition as a linear programme, and against known values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from commcanary.judge.dip import dip, dip_p_value


def by_linear_programme(x: np.ndarray) -> float:
    """Smallest d over modes m: convex left of x[m], concave right of it, within d of both ends of every step.

    Unknowns: left values at x[0..m] (the last one a left limit), right values at x[m..], and d.
    """
    n, best = len(x), 1.0
    for m in range(n):
        right, d = m + 1, n + 1
        rows, limits = [], []

        def require(terms: dict[int, float], limit: float, size: int = n + 2, r: list = rows, b: list = limits) -> None:
            row = np.zeros(size)
            for place, factor in terms.items():
                row[place] += factor
            r.append(row)
            b.append(limit)

        for i in range(m + 1):
            require({i: 1, d: -1}, i / n)
            require({i: -1, d: -1}, -(i + 1) / n if i < m else -m / n)
        for i in range(m, n):
            require({right + i - m: -1, d: -1}, -(i + 1) / n)
            require({right + i - m: 1, d: -1}, i / n if i > m else (m + 1) / n)
        require({m: 1, right: -1}, 0)
        for first, count, start, sign in ((0, m + 1, 0, 1.0), (right, n - m, m, -1.0)):
            for j in range(1, count - 1):
                h, k = x[start + j] - x[start + j - 1], x[start + j + 1] - x[start + j]
                at = first + j
                require({at: sign * (1 / h + 1 / k), at - 1: -sign / h, at + 1: -sign / k}, 0)
        if m:
            require({0: 1, 1: -1}, 0)
        if n - m > 1:
            require({n - 1: 1, n: -1}, 0)
        objective = np.zeros(n + 2)
        objective[d] = 1
        solved = linprog(objective, A_ub=np.array(rows), b_ub=limits, bounds=[(0, 1)] * (n + 1) + [(0, None)])
        if solved.success:
            best = min(best, solved.fun)
    return best


@settings(max_examples=25, deadline=None)
@given(st.sets(st.integers(0, 60), min_size=2, max_size=8))
def test_equals_the_definition(values: set[int]) -> None:
    x = np.array(sorted(values), dtype=np.float64)
    assert dip(x) == pytest.approx(by_linear_programme(x), abs=1e-7)


def test_known_values() -> None:
    assert dip(np.arange(20.0)) == 1 / 40
    assert dip(np.ones(5)) == 1 / 10
    assert dip(np.array([0.0] * 500 + [1.0] * 500)) == pytest.approx(0.25, abs=0.001)


def test_two_heaps_are_significant_and_one_is_not() -> None:
    generator = np.random.default_rng(3)
    one, two = generator.normal(0, 1, 20), np.concatenate([generator.normal(c, 0.1, 10) for c in (0, 1)])
    assert dip_p_value(dip(one), 20) > 0.05
    assert dip_p_value(dip(two), 20) < 0.005
