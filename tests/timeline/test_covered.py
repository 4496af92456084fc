"""Interval unions against a twin that counts nanoseconds one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commcanary.timeline.covered import Covered

# touching, nested, empty and backward intervals are all likely in so small a space
intervals = st.lists(st.tuples(st.integers(-20, 20), st.integers(-4, 12)), max_size=12)


def covered(pairs: list[tuple[int, int]]) -> Covered:
    start = np.asarray([s for s, _ in pairs], np.int64)
    return Covered(start, start + np.asarray([d for _, d in pairs], np.int64))


def cells(pairs: list[tuple[int, int]]) -> set[int]:
    return {t for s, d in pairs for t in range(s, s + d)}


def cells_of(union: Covered) -> set[int]:
    return {t for s, e in zip(union.start.tolist(), union.end.tolist(), strict=True) for t in range(s, e)}


@given(intervals)
def test_a_union_is_its_cells_in_maximal_stretches(pairs: list[tuple[int, int]]) -> None:
    union = covered(pairs)
    assert cells_of(union) == cells(pairs)
    assert union.total == len(cells(pairs))
    assert (union.end > union.start).all()
    assert (union.start[1:] > union.end[:-1]).all()


@given(intervals, intervals)
def test_set_arithmetic(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> None:
    a, b = covered(one), covered(other)
    assert cells_of(a.shared(b)) == cells(one) & cells(other)
    assert cells_of(a.minus(b)) == cells(one) - cells(other)
    assert a.both(b) == len(cells(one) & cells(other))
    for union in (a.shared(b), a.minus(b)):
        assert (union.start[1:] > union.end[:-1]).all()


@given(intervals, st.integers(-30, 30), st.integers(-5, 30))
def test_the_part_inside_a_window(pairs: list[tuple[int, int]], start: int, length: int) -> None:
    inside = len(cells(pairs) & set(range(start, start + length)))
    assert covered(pairs).within(np.asarray([start]), np.asarray([start + length])).tolist() == [inside]
    assert covered(pairs).clipped(start, start + length).total == inside


@pytest.mark.parametrize(
    ("pairs", "stretches"),
    [
        ([(0, 5), (5, 5)], [(0, 10)]),  # touching
        ([(0, 10), (2, 3)], [(0, 10)]),  # nested
        ([(0, 10), (2, 20), (4, 1)], [(0, 22)]),
        ([(7, 0)], []),  # zero length
        ([(7, -3), (1, 2)], [(1, 3)]),  # negative duration
        ([], []),
    ],
)
def test_kinds_of_intervals(pairs: list[tuple[int, int]], stretches: list[tuple[int, int]]) -> None:
    union = covered(pairs)
    assert list(zip(union.start.tolist(), union.end.tolist(), strict=True)) == stretches


def test_sums_stay_exact_beyond_a_float() -> None:
    start = np.asarray([2**61, 2**61 + 3], np.int64)
    assert Covered(start, start + np.asarray([2, 2**60], np.int64)).total == 2 + 2**60
