"""Choosing rows: the largest, in their own order, with a note."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from commcanary.reporting.drawings.choice import LIMIT, most


@given(st.lists(st.integers(-1000, 1000), max_size=3 * LIMIT))
def test_the_largest_in_their_own_order(values: list[int]) -> None:
    rows = list(enumerate(values))
    chosen, note = most(rows, lambda row: float(row[1]))
    assert len(chosen) == min(len(rows), LIMIT)
    assert list(chosen) == sorted(chosen)
    left_out = set(rows) - set(chosen)
    assert max((v for _, v in left_out), default=-1001) <= min((v for _, v in chosen), default=-1001)
    assert bool(note) == bool(left_out)
