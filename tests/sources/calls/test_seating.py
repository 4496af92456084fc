"""Ranks out of seats in communicators, by hand."""

from __future__ import annotations

import pytest

from commcanary.errors import InputRefusal
from commcanary.sources.calls.seating import Seat, numbered, seating_of


def seats(*ranks: int | None, of: int) -> dict[int, Seat]:
    """The seat of each process; None where it has none."""
    return {process: Seat(rank, of) for process, rank in enumerate(ranks) if rank is not None}


PAIR = seats(1, None, 0, None, of=2)
WORLD = seats(3, 2, 1, 0, of=4)


def test_ranks_are_those_in_the_communicator_that_seats_all() -> None:
    seating = seating_of(4, {"pair": PAIR, "world": WORLD, "again": seats(0, 1, 2, 3, of=4)})
    assert (seating.rank_of, seating.world, seating.size) == ((3, 2, 1, 0), "world", 4)
    assert seating.members("pair") == [1, 3]
    assert seating.members("again") == [3, 2, 1, 0]
    assert seating.group("pair", "x").members == (1, 3)
    assert seating.group("world", "x").ranks == 4


def test_the_largest_of_those_that_seat_all_given() -> None:
    """Of two nodes one was given: its own communicator seats every process as well, but is not the job."""
    seating = seating_of(2, {"node": seats(0, 1, of=2), "world": seats(2, 3, of=4)})
    assert (seating.rank_of, seating.world, seating.size) == ((2, 3), "world", 4)
    assert seating.members("node") == [2, 3]
    assert seating.members("world") is None
    assert seating.group("world", "x").members == (0, 1, 2, 3)


def test_processes_are_numbered_where_no_communicator_seats_all() -> None:
    seating = numbered(4, {"pair": PAIR}, "in order of device")
    assert (seating.rank_of, seating.world, seating.size) == ((0, 1, 2, 3), None, None)
    assert seating.how.endswith("ranks number the processes in order of device")
    assert seating.members("pair") == [2, 0]


def test_renumbered_processes_keep_their_seats() -> None:
    seating = seating_of(4, {"pair": PAIR, "world": WORLD})
    turned = seating.renumbered([3, 2, 1, 0])
    assert turned.rank_of == (0, 1, 2, 3)
    assert [turned.members(name) for name in ("pair", "world")] == [[1, 3], [0, 1, 2, 3]]


@pytest.mark.parametrize(
    ("of", "told"),
    [
        ({0: Seat(0, 2), 1: Seat(1, 3)}, "communicator c: has 2 and 3 ranks; "),
        (seats(1, 1, 1, of=4), "communicator c: seats 3 processes on rank 1; "),
    ],
)
def test_seats_that_contradict_each_other(of: dict[int, Seat], told: str) -> None:
    with pytest.raises(InputRefusal, match=told):
        seating_of(3, {"c": of})


def test_a_member_that_no_file_is_of() -> None:
    seating = seating_of(2, {"world": seats(0, 1, of=4), "other": seats(1, None, of=3)})
    with pytest.raises(InputRefusal, match="line 7: is on communicator other of 3 ranks, of which 2 are in no file"):
        seating.group("other", "line 7")
