from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from commcanary.judge.ranking import RANKING_METRICS, rank, relation

small = st.integers(0, 4).map(float)


def alike(values: list[float]) -> dict[str, dict[str, float]]:
    """Every metric the same."""
    return {f"c{i}": dict.fromkeys(RANKING_METRICS, v) for i, v in enumerate(values)}


@pytest.mark.parametrize(
    ("left", "right", "tie", "expected"),
    [
        (1.0, 2.0, 0.001, "left"),
        (2.0, 1.0, 0.001, "right"),
        (12.834, 12.835, 0.001, "tie"),
        (12.834, 12.836, 0.001, "left"),
        (12.834, 12.835, 0.0, "left"),
        (0.0, 0.0, 0.0, "tie"),
    ],
)
def test_relation(left: float, right: float, tie: float, expected: str) -> None:
    assert relation(left, right, tie) == expected


@given(st.lists(st.tuples(small, small), min_size=2, max_size=6))
def test_tau_b_equals_scipy_and_agreement_a_count(values: list[tuple[float, float]]) -> None:
    source, canary = [a for a, _ in values], [b for _, b in values]
    found = rank(alike(source), alike(canary), 0.0)
    expected = kendalltau(source, canary, variant="b").statistic
    if expected != expected:  # NaN: one side ties everything
        assert found.kendall_tau_b is None
    else:
        assert found.kendall_tau_b == pytest.approx(expected, abs=1e-6)
        assert found.orders[0].kendall_tau_b == pytest.approx(expected, abs=1e-6)
    same = [(a > c) - (a < c) == (b > d) - (b < d) for i, (a, b) in enumerate(values) for c, d in values[i + 1 :]]
    assert found.passed_pairs == 4 * sum(same)
    assert found.agreement == pytest.approx(sum(same) / len(same), abs=1e-6)
    assert found.status == ("pass" if all(same) else "fail")


def test_one_configuration_has_nothing_to_rank() -> None:
    found = rank(alike([1.0]), alike([2.0]), 0.001)
    assert (found.status, found.agreement, found.kendall_tau_b, found.total_pairs) == ("not_applicable", None, None, 0)


def test_orders_stand_fastest_first() -> None:
    found = rank(alike([3.0, 1.0, 2.0]), alike([1.0, 2.0, 3.0]), 0.001)
    assert found.orders[0].source == ("c1", "c2", "c0")
    assert found.orders[0].canary == ("c0", "c1", "c2")
