"""The calls of one log as columns: what a process enqueued, before it is known who the others are."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from commcanary.artifacts.events import UNKNOWN
from commcanary.artifacts.trace_checks import MAX_RANKS
from commcanary.errors import InputRefusal
from commcanary.sources.nccl_log.communicators import Communicators
from commcanary.sources.nccl_log.lines import CallLine, CommunicatorLine, lines_of_interest
from commcanary.sources.nccl_log.timestamps import LEAST_DIGITS, stamp_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.sources.containers import Member
    from commcanary.sources.nccl_log.lines import LogLine

    Ints = NDArray[np.int64]


class Kind(NamedTuple):
    """What is equal in many calls; ``communicator`` numbers those of the log, ``root`` is a peer in messages."""

    communicator: int
    name: str
    elements: int
    datatype: int
    operator: int
    root: int


@dataclass
class LogRecords:
    """Columns of a log's calls in order, int64. ``kind`` numbers ``kinds``; ``time_ns`` is -1 where a line has none.

    ``name`` is how refusals show the log, ``base`` its own name. ``why_untimed`` says why the lines' times cannot be
    used, empty where they can. ``left`` counts lines that could not be read.
    """

    name: str
    base: str
    communicators: Communicators = field(default_factory=Communicators)
    process: tuple[bytes, bytes] | None = None
    version: str | None = None
    kinds: dict[Kind, int] = field(default_factory=dict)
    left: Counter[str] = field(default_factory=Counter)
    why_untimed: str = ""
    kind: array[int] = field(default_factory=lambda: array("q"))
    line: array[int] = field(default_factory=lambda: array("q"))
    time_ns: array[int] = field(default_factory=lambda: array("q"))

    def column(self, name: str) -> Ints:
        """One of the columns as int64[n]."""
        return np.asarray(getattr(self, name), np.int64)


NO_TIMES = (
    "lines carry no time; NCCL_DEBUG_TIMESTAMP_LEVELS=INFO and NCCL_DEBUG_TIMESTAMP_FORMAT='[%F %T.%6f] ' add them"
)


def read_log(member: Member, on_error: Literal["stop", "skip"]) -> LogRecords:
    """The calls in ``member``.

    Raises ``InputRefusal`` for the first torn line (unless ``on_error`` is skip: then it is counted), and always for
    a log of several processes, whose lines may be mixed anywhere.
    """
    found = LogRecords(member.shown, member.base)
    calls: dict[tuple[int, CallLine], int] = {}
    for line in lines_of_interest(member.stream):
        what = line.states
        if isinstance(what, str):
            found.version = what
        elif isinstance(what, InputRefusal):
            if on_error == "stop":
                raise what
            found.left[what.found] += 1
        else:
            _check_process(found, line)
            if isinstance(what, CommunicatorLine):
                found.communicators.read(what)
                continue
            communicator = found.communicators.of_call(what.pointer, int(what.ranks))
            number = calls.get((communicator, what))
            if number is None:
                number = calls[communicator, what] = _kind(found, communicator, what, line.number)
            found.kind.append(number)
            found.line.append(line.number)
            found.time_ns.append(_time(found, line))
    return found


def _kind(found: LogRecords, communicator: int, call: CallLine, line: int) -> int:
    ranks = int(call.ranks)
    known = found.communicators.known[communicator]
    if known.ranks != ranks or not 0 < ranks <= MAX_RANKS:
        told = f"states {ranks} ranks of communicator {call.pointer.decode()}"
        if known.ranks != ranks:
            told += f", which has {known.ranks} in an earlier line: another one lies at its address"
        raise InputRefusal(f"line {line}.nranks", told, "log its creation as well (NCCL_DEBUG_SUBSYS=INIT,COLL)")
    kind = Kind(
        communicator, call.name.decode(), int(call.elements), int(call.datatype), int(call.operator), int(call.root)
    )
    return found.kinds.setdefault(kind, len(found.kinds))


def _check_process(found: LogRecords, line: LogLine) -> None:
    if found.process is None:
        found.process = line.process
    elif line.process is not None and found.process != line.process:
        (host, pid), (other, second) = found.process, line.process
        raise InputRefusal(
            f"line {line.number}",
            f"is of process {second.decode()} on {other.decode('utf-8', 'replace')}, the lines before it of process "
            f"{pid.decode()} on {host.decode('utf-8', 'replace')}: several processes wrote one log",
            "log each process to a file of its own: NCCL_DEBUG_FILE=log.%h.%p",
        )


def _time(found: LogRecords, line: LogLine) -> int:
    """ns since 1970, -1 where the line has no usable time; notes the first reason."""
    if found.why_untimed:
        return UNKNOWN
    stamp = stamp_of(line.before) if line.before else None
    if stamp is None:
        found.why_untimed = NO_TIMES
        return UNKNOWN
    ns, digits = stamp
    if digits < LEAST_DIGITS:
        found.why_untimed = (
            f"times have {digits} digits of a second, too coarse for calls; NCCL_DEBUG_TIMESTAMP_FORMAT='[%F %T.%6f] '"
        )
        return UNKNOWN
    if found.time_ns and ns < found.time_ns[-1]:
        # NCCL 2.26.2 leaves zeros at the front of the fraction out
        found.why_untimed = f"times go backwards at line {line.number} of {found.base}"
        return UNKNOWN
    return ns
