"""Who is who: ranks of processes and members of communicators, from what NCCL says where it creates and ends them.

A payload names a communicator by a hash that all its ranks share. Which ranks those are stands only in the payloads
of its creation (or end): each process' rank in it, and their number. Global ranks are nowhere. How they follow is
``calls.seating``'s; what is more here is what the user may declare, and that calls may name no communicator at all.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from commcanary.artifacts.events import ProcessGroup
from commcanary.artifacts.trace_checks import MAX_RANKS
from commcanary.errors import InputRefusal
from commcanary.sources.calls.seating import Seat, numbered
from commcanary.sources.nsys.database import UNKNOWN
from commcanary.sources.nsys.functions import CREATING, is_operation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commcanary.sources.calls.seating import Seating
    from commcanary.sources.nsys.read import ExportRead
    from commcanary.sources.nsys.settings import NsysSettings


class Process(NamedTuple):
    """A process of the job: the position of its export, and ``globalPid // 2^24``."""

    export: int
    number: int

    @property
    def pid(self) -> int:
        """The number that the operating system gave it."""
        return self.number % (1 << 24)


class DeviceSeat(NamedTuple):
    """What one process says of a communicator: its seat in it, and on which device; -1 unknown."""

    seat: Seat
    device: int


NO_COMMUNICATOR = None
"""The key of calls whose payload names no communicator (NCCL before 2.25)."""


@dataclass(frozen=True)
class Communicators:
    """``rank_of`` numbers the processes as ``seating`` has them, where they stand by position.

    ``seats`` are ranks in communicators, ``callers`` the processes that call on each.
    """

    rank_of: dict[Process, int]
    seating: Seating
    seats: dict[int | None, dict[Process, Seat]]
    callers: dict[int | None, tuple[Process, ...]]
    settings: NsysSettings

    @property
    def world(self) -> int | None:
        """Ranks of the job, None where nothing shows how many there are."""
        return self.seating.size

    def group(self, communicator: int | None, place: str) -> ProcessGroup:
        """The process group behind a communicator, in order of its own ranks.

        Raises ``InputRefusal`` where its members are not known for certain and not declared.
        """
        name = communicator_name(communicator)
        if communicator is NO_COMMUNICATOR:
            if not self.settings.assume_default_group:
                raise InputRefusal(
                    place,
                    "names no communicator (NCCL before 2.25), so its process group is unknown",
                    "declare --assume-default-group if every call ran on one communicator of all processes",
                )
            everyone = range(self.world) if self.world is not None else sorted(self.rank_of.values())
            return ProcessGroup.of(name, everyone)
        seats = self.seats.get(communicator, {})
        callers = self.callers.get(communicator, ())
        if all(process in seats for process in callers) and seats:
            return ProcessGroup.of(name, self._seated(communicator, seats, place))
        if not self.settings.assume_all_ranks_captured:
            raise InputRefusal(
                place,
                f"calls on communicator {name}, whose creation was not captured, so its members are unknown",
                "capture from the start of the job, or declare --assume-all-ranks-captured",
            )
        return ProcessGroup.of(name, sorted(self.rank_of[process] for process in callers))

    def _seated(self, communicator: int | None, seats: dict[Process, Seat], place: str) -> list[int]:
        name = communicator_name(communicator)
        size = next(iter(seats.values())).ranks
        members = self.seating.members(name)
        if members is not None:
            return members
        mine = {seat.rank: self.rank_of[process] for process, seat in seats.items()}
        if self.world == size and all(rank == number for rank, number in mine.items()):
            return list(range(size))
        if self.settings.assume_all_ranks_captured:
            return [mine[rank] for rank in sorted(mine)]
        raise InputRefusal(
            place,
            f"calls on communicator {name} of {size} ranks, of which {size - len(mine)} are in no export given",
            "give the exports of all nodes, or declare --assume-all-ranks-captured",
        )


def communicator_name(communicator: int | None) -> str:
    """How a communicator is called in traces and messages."""
    return "default" if communicator is NO_COMMUNICATOR else f"{communicator:#018x}"


def communicators_of(reads: Sequence[ExportRead], settings: NsysSettings) -> Communicators:
    """Ranks and communicators of all exports. Where no communicator seats every process, devices number them.

    Raises ``InputRefusal`` for payloads that contradict each other.
    """
    seats: dict[int | None, dict[Process, DeviceSeat]] = defaultdict(dict)
    callers: dict[int | None, dict[Process, None]] = defaultdict(dict)
    unnamed: dict[Process, set[DeviceSeat]] = defaultdict(set)
    processes: dict[Process, None] = {}
    for number, read in enumerate(reads):
        for i, (name, said, owner) in enumerate(
            zip(read.ranges.name, read.said, read.ranges.process.tolist(), strict=True)
        ):
            process = Process(number, owner)
            if is_operation(name):
                processes.setdefault(process)
            if not isinstance(said, dict):
                continue
            communicator = said.get("communicator", NO_COMMUNICATOR)
            if name in CREATING and {"rank", "ranks"} <= said.keys():
                processes.setdefault(process)
                seat = _seat(said, f"{read.table}[{read.ranges.row[i]}]", read)
                if communicator is NO_COMMUNICATOR:
                    unnamed[process].add(seat)
                else:
                    _sit(seats[communicator], process, seat, f"{read.table}[{read.ranges.row[i]}]", read)
            elif is_operation(name):
                callers[communicator].setdefault(process)
    known = {communicator: {p: said.seat for p, said in of.items()} for communicator, of in seats.items()}
    _check_sizes(known)
    if unnamed and all(len(of) == 1 for of in unnamed.values()):  # one communicator a process: its ranks are those
        only = {process: next(iter(of)).seat for process, of in unnamed.items()}
        if len({seat.ranks for seat in only.values()}) == 1:
            known[NO_COMMUNICATOR] = only
    order = sorted(processes, key=lambda process: (process.export, _device(reads[process.export], process), process))
    at = {process: position for position, process in enumerate(order)}
    by_name = {
        communicator_name(key): {at[p]: seat for p, seat in of.items()} for key, of in known.items() if _distinct(of)
    }
    seating = numbered(len(order), by_name, "in order of export and device")
    rank_of = dict(zip(order, seating.rank_of, strict=True))
    return Communicators(rank_of, seating, known, {key: tuple(of) for key, of in callers.items()}, settings)


def _seat(said: dict[str, int], place: str, read: ExportRead) -> DeviceSeat:
    seat = Seat(said["rank"], said["ranks"])
    if not 0 <= seat.rank < seat.ranks <= MAX_RANKS:
        found = f"says rank {seat.rank} of {seat.ranks}"
        raise InputRefusal(f"{place}.binaryData", found, "export the report again", file=str(read.path))
    return DeviceSeat(seat, said.get("device", UNKNOWN))


def _sit(seats: dict[Process, DeviceSeat], process: Process, said: DeviceSeat, place: str, read: ExportRead) -> None:
    known = seats.setdefault(process, said)
    if known == said:
        return
    raise InputRefusal(
        place,
        f"process {process.pid} is rank {known.seat.rank} of {known.seat.ranks} on device {known.device}, and "
        f"rank {said.seat.rank} of {said.seat.ranks} on device {said.device}, in one communicator",
        "no payload says which of a process' ranks calls: run one process a device",
        file=str(read.path),
    )


def _check_sizes(seats: dict[int | None, dict[Process, Seat]]) -> None:
    """Of communicators that payloads name: those without a name may be several, whose ranks contradict nothing."""
    for communicator, of in seats.items():
        sizes = sorted({seat.ranks for seat in of.values()})
        if len(sizes) > 1 or not _distinct(of):
            name = communicator_name(communicator)
            found = (
                f"has {' and '.join(map(str, sizes))} ranks" if len(sizes) > 1 else "seats two processes on one rank"
            )
            raise InputRefusal(f"communicator {name}", found, "give the exports of one job")


def _distinct(of: dict[Process, Seat]) -> bool:
    return len({seat.rank for seat in of.values()}) == len(of)


def _device(read: ExportRead, process: Process) -> int:
    """The first device on which kernels of the process ran, -1 where none did."""
    if read.kernels is None:
        return UNKNOWN
    devices = read.kernels.device[read.kernels.process == process.number]
    return int(np.min(devices)) if len(devices) else UNKNOWN
