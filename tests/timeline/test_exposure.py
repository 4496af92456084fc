"""A direct tail and a slowdown together are the delay, once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from commcanary.timeline.exposure import exposure


def test_slowdown_hides_what_would_have_been_a_tail() -> None:
    found = exposure(completion=26, consumer_alone=25, consumer=30)
    assert (found.tail, found.slowdown, found.total) == (0, 5, 5)


def test_tail_beyond_a_slowed_consumer() -> None:
    found = exposure(completion=33, consumer_alone=25, consumer=29)
    assert (found.tail, found.slowdown, found.total) == (4, 4, 8)


@given(st.integers(0, 10**12), st.integers(0, 10**12), st.integers(0, 10**12))
def test_parts_are_the_delay(completion: int, alone: int, slowed: int) -> None:
    found = exposure(completion, alone, alone + slowed)
    assert found.total == max(completion, alone + slowed) - alone
