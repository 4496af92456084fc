"""Which ranks the logs are of: one a log, or one a GPU where a single process drives several."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from commcanary.artifacts.events import UNKNOWN
from commcanary.errors import InputRefusal, UsageError
from commcanary.sources.calls.seating import Seat, Seating, seating_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commcanary.sources.nccl_log.communicators import Communicator
    from commcanary.sources.nccl_log.log_records import LogRecords
    from commcanary.sources.nccl_log.settings import NcclLogSettings

DEFAULT = "default"
"""The group of all ranks, where the user declares that calls on communicators of unknown creation ran on it."""


class Process(NamedTuple):
    """Who called: the position of a log, and the GPU where the log has communicators of several; else -1."""

    log: int
    device: int = UNKNOWN

    def calls_on(self, communicator: Communicator) -> bool:
        """Whether calls on a communicator of the log are this process'."""
        return self.device in (UNKNOWN, communicator.device)


def name_of(communicator: Communicator, settings: NcclLogSettings) -> str | None:
    """How a communicator is called on every rank; None where the log does not tell."""
    return communicator.name or (DEFAULT if settings.assume_default_group else None)


def processes_of(logs: Sequence[LogRecords], settings: NcclLogSettings) -> tuple[list[Process], Seating]:
    """The processes behind ``logs`` in order of their ranks.

    Raises ``InputRefusal`` for logs that contradict each other, ``UsageError`` where the user states ranks of
    another number of logs.
    """
    if settings.ranks and len(settings.ranks) != len(logs):
        raise UsageError(f"--rank is given {len(settings.ranks)} times for {len(logs)} logs; give it once for each")
    processes = [process for number, log in enumerate(logs) for process in _of_log(number, log)]
    alone = len(processes) == 1
    seats: dict[str, dict[int, Seat]] = defaultdict(dict)
    for position, process in enumerate(processes):
        log = logs[process.log]
        for communicator in log.communicators.known:
            name = name_of(communicator, settings)
            if name is None or not process.calls_on(communicator):
                continue
            if alone and settings.process_group not in (None, name):
                continue
            stated = settings.ranks[process.log] if settings.ranks else None
            seat = _seat(communicator, stated, log)
            known = seats[name].setdefault(position, seat)
            if known != seat:
                raise InputRefusal(
                    f"communicator {name}",
                    f"seats this process on rank {known.rank} of {known.ranks} and on rank {seat.rank} of {seat.ranks}",
                    "log the creation of communicators as well (NCCL_DEBUG_SUBSYS=INIT,COLL)",
                    file=log.name,
                )
    seating = seating_of(len(processes), seats)
    order = sorted(range(len(processes)), key=seating.rank_of.__getitem__)
    return [processes[number] for number in order], seating.renumbered(order)


def _of_log(number: int, log: LogRecords) -> list[Process]:
    known = {communicator.device for communicator in log.communicators.known}
    devices = sorted(known - {UNKNOWN})
    if len(devices) <= 1:
        return [Process(number)]
    if UNKNOWN in known:
        raise InputRefusal(
            "comm",
            f"has communicators of GPUs {', '.join(map(str, devices))}, and one whose creation it does not show",
            "log the creation of every communicator (NCCL_DEBUG_SUBSYS=INIT,COLL, from the start)",
            file=log.name,
        )
    return [Process(number, device) for device in devices]


def _seat(communicator: Communicator, stated: int | None, log: LogRecords) -> Seat:
    rank = communicator.rank if communicator.rank is not None else stated
    if rank is None:
        raise InputRefusal(
            f"communicator {communicator.pointer.decode()}",
            "is taken for the default group, but nothing says this process' rank in it",
            "state it with --rank, once for each log in order",
            file=log.name,
        )
    if not rank < communicator.ranks:
        raise InputRefusal(
            f"communicator {communicator.pointer.decode()}",
            f"has {communicator.ranks} ranks, and this process is said to be rank {rank}",
            "check --rank, or log the job again",
            file=log.name,
        )
    return Seat(rank, communicator.ranks)
