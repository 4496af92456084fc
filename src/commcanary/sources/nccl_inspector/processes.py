"""Which processes the files are of: one a file, or one a rank where a single process drives all GPUs."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from commcanary.errors import InputRefusal
from commcanary.sources.calls.seating import Seat, Seating, seating_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commcanary.sources.nccl_inspector.file_records import CommunicatorRank, FileRecords


class Process(NamedTuple):
    """Who recorded: the position of a file and, where it holds several ranks of its communicator, which one.

    The ``first`` of them accounts for records that are not imported.
    """

    file: int
    rank: int | None = None
    first: bool = True

    def accounts_for(self, caller: CommunicatorRank, wanted: bool) -> bool:
        """Whether a record of ``caller`` in the process' file counts as its own."""
        if self.rank is None:
            return True
        return self.rank == caller.rank if wanted else self.first


def processes_of(files: Sequence[FileRecords], wanted: str | None) -> tuple[list[Process], Seating]:
    """The processes behind ``files`` in order of their ranks.

    ``wanted`` is the id or name of the only communicator to import. Raises ``InputRefusal`` for a file with several
    ranks of one communicator beside others: no record says which of a process' ranks calls.
    """
    processes: list[Process] = []
    for number, file in enumerate(files):
        several = next((name for name, of in file.seats.items() if len(of) > 1), None)
        named = [name for name in file.seats if wants(file, name, wanted)]
        if several is None:
            processes.append(Process(number))
        elif len(named) == 1:
            ranks = sorted(file.seats[named[0]])
            processes += [Process(number, rank, rank == ranks[0]) for rank in ranks]
        else:
            raise InputRefusal(
                "header.rank",
                f"states {len(file.seats[several])} ranks of communicator {several} in a file that has other "
                "communicators, and no record says which of the process' ranks calls",
                "run one process a GPU, or import one communicator with --process-group",
                file=file.name,
            )
    alone = len(processes) == 1
    seats: dict[str, dict[int, Seat]] = defaultdict(dict)
    for position, process in enumerate(processes):
        file = files[process.file]
        for name, of in file.seats.items():
            if wants(file, name, wanted) or not (alone or process.rank is not None):
                for seat in of.values():
                    if process.rank in (None, seat.rank):
                        seats[name][position] = seat
    seating = seating_of(len(processes), seats)
    order = sorted(range(len(processes)), key=seating.rank_of.__getitem__)
    return [processes[number] for number in order], seating.renumbered(order)


def wants(file: FileRecords, communicator: str, wanted: str | None) -> bool:
    """Whether ``communicator`` is to be imported: ``wanted`` is its id or its name, or None for all."""
    return wanted is None or wanted in (communicator, file.names.get(communicator))
