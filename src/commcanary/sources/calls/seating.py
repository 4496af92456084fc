"""Who is who where a source knows communicators: each process' rank in them and their size, never its global rank.

Global ranks are then ranks in one communicator that seats every process; members of the others are those processes.
Profiles, execution traces and Flight Recorder dumps state global ranks, so that nothing of this is theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from commcanary.artifacts.events import ProcessGroup
from commcanary.errors import InputRefusal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Seat(NamedTuple):
    """A process' rank in a communicator, and how many ranks that has."""

    rank: int
    ranks: int


@dataclass(frozen=True)
class Seating:
    """``rank_of[process]`` numbers the processes and ``how`` says by what.

    ``world`` is the communicator that the numbers are of; None where none seats every process. ``seats`` are those of
    each communicator by process.
    """

    rank_of: tuple[int, ...]
    world: str | None
    how: str
    seats: Mapping[str, Mapping[int, Seat]]

    @property
    def size(self) -> int | None:
        """Ranks of the job, None where nothing shows how many there are."""
        return None if self.world is None else next(iter(self.seats[self.world].values())).ranks

    def group(self, communicator: str, place: str) -> ProcessGroup:
        """The process group behind ``communicator``, in order of its own ranks.

        Raises ``InputRefusal`` naming ``place`` where some of its members are none of the processes.
        """
        seats = self.seats[communicator]
        ranks = next(iter(seats.values())).ranks
        if communicator == self.world:
            return ProcessGroup(communicator, ranks)
        members = self.members(communicator)
        if members is None:
            absent = ranks - len(seats)
            are = "is" if absent == 1 else "are"
            raise InputRefusal(
                place,
                f"is on communicator {communicator} of {ranks} ranks, of which {absent} {are} in no file "
                "given, so its members are unknown",
                "give the files of all ranks, or import one communicator with --process-group",
            )
        return ProcessGroup.of(communicator, members)

    def members(self, communicator: str) -> list[int] | None:
        """The ranks of ``communicator`` in order of its own; None where some of them are none of the processes."""
        seats = self.seats[communicator]
        by_rank = {seat.rank: self.rank_of[process] for process, seat in seats.items()}
        ranks = next(iter(seats.values())).ranks
        return [by_rank[rank] for rank in range(ranks)] if by_rank.keys() == set(range(ranks)) else None

    def renumbered(self, order: Sequence[int]) -> Seating:
        """The same with process ``order[i]`` as number i."""
        place = {process: at for at, process in enumerate(order)}
        seats = {name: {place[process]: seat for process, seat in of.items()} for name, of in self.seats.items()}
        return Seating(tuple(self.rank_of[process] for process in order), self.world, self.how, seats)


def seating_of(processes: int, seats: Mapping[str, Mapping[int, Seat]]) -> Seating:
    """The same as ``numbered``; raises ``InputRefusal`` for seats that contradict each other."""
    for name, of in seats.items():
        sizes = sorted({seat.ranks for seat in of.values()})
        taken = [seat.rank for seat in of.values()]
        if len(sizes) > 1:
            found = f"has {' and '.join(map(str, sizes))} ranks"
            raise InputRefusal(f"communicator {name}", found, "give the files of one job")
        if len(set(taken)) < len(taken):
            twice = next(rank for rank in taken if taken.count(rank) > 1)
            found = f"seats {taken.count(twice)} processes on rank {twice}"
            raise InputRefusal(f"communicator {name}", found, "give the files of one run of one job, each once")
    return numbered(processes, seats, "in the order of their files")


def numbered(processes: int, seats: Mapping[str, Mapping[int, Seat]], otherwise: str) -> Seating:
    """The ranks of ``processes`` processes, numbered from 0, out of their ``seats`` by communicator.

    They are those in the largest communicator that seats every process, the first of equals; where none does,
    processes are numbered in their order, which ``otherwise`` tells.
    """
    worlds = [name for name, of in seats.items() if len(of) == processes]
    if not worlds:
        how = f"no communicator seats every process: ranks number the processes {otherwise}"
        return Seating(tuple(range(processes)), None, how, seats)
    world = max(worlds, key=lambda name: next(iter(seats[name].values())).ranks)  # the first of equals
    how = f"ranks are those in communicator {world}, the largest that seats every process"
    return Seating(tuple(seats[world][process].rank for process in range(processes)), world, how, seats)
