"""Lines of NCCL's debug log: calls, and the creation and end of communicators. Everything else is passed over.

The layout of a call (``ncclEnqueueCheck`` in ``src/enqueue.cc``) is the same from NCCL 2.4 to 2.30:
``HOST:PID:TID [DEVICE] NCCL INFO NAME: opCount HEX sendbuff P recvbuff P count N datatype N op N root N comm P
[nranks=N] stream P``, on one line. ``opCount`` neither orders nor pairs anything: on one node it stays 0 since 2.27.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from commcanary.errors import InputRefusal

if TYPE_CHECKING:
    from collections.abc import Iterator

SLICE_BYTES = 4 << 20
LONGEST_LINE = 1 << 20

_INFO = b" NCCL INFO "
_POINTER = rb"0x[0-9a-fA-F]{1,16}"
_BUFFER = rb"(?:0x[0-9a-fA-F]{1,16}|\(nil\)|0)"
_CALL = re.compile(
    rb"([A-Za-z]{1,40}): opCount [0-9a-f]{1,16} sendbuff %(b)s recvbuff %(b)s count (\d{1,19}) datatype (\d{1,10}) "
    rb"op (\d{1,10}) root (-?\d{1,10}) comm (%(p)s) \[nranks=(\d{1,10})\] stream %(b)s"
    % {b"b": _BUFFER, b"p": _POINTER}
)
_PARTS = (b": opCount ", b" [nranks=", b"Init COMPLETE", b"Destroy COMPLETE")
"""What stands in calls and communicators' lines alone: a line that has some of it and is neither is a torn one."""

_PROCESS = re.compile(rb"([^\s:]{1,255}):(\d{1,10}):\d{1,10}")
_DEVICE = re.compile(rb"\[-?\d{1,5}\]")
_COMMUNICATOR = re.compile(
    rb"(?:\[Rank \d{1,10}\] )?(?:\w{1,60} )?comm (?P<comm>%(p)s) rank (?P<rank>\d{1,9}) n[rR]anks (?P<nranks>\d{1,9}) "
    rb"(?P<more>[\w \-]*?) ?- (?P<what>Init START|Init COMPLETE|Destroy COMPLETE|Abort COMPLETE)" % {b"p": _POINTER}
)
_FIELD = re.compile(
    rb"\b(?:(cudaDev|splitCount|childCount|color) (-?\d{1,10})|(commId|parent) (%(p)s))(?= |$)" % {b"p": _POINTER}
)
_VERSION = re.compile(rb"NCCL version (\S{1,60})")


class CallLine(NamedTuple):
    """A call as the log states it: texts of its numbers, and the pointer of its communicator."""

    name: bytes
    elements: bytes
    datatype: bytes
    operator: bytes
    root: bytes
    pointer: bytes
    ranks: bytes


class CommunicatorLine(NamedTuple):
    """The creation (``Init ...``) or the end of a communicator. ``fields`` are those that the version writes."""

    what: str
    pointer: bytes
    rank: int
    ranks: int
    fields: dict[str, bytes]


class LogLine(NamedTuple):
    """One line of interest. ``process`` is (host, number), ``before`` what stands before them, a time perhaps."""

    number: int
    before: bytes
    process: tuple[bytes, bytes] | None
    states: CallLine | CommunicatorLine | InputRefusal | str


def lines_of_interest(stream: BinaryIO) -> Iterator[LogLine]:
    """The lines of interest in ``stream`` in order: calls, communicators, NCCL's version (a text), torn lines.

    A slice of the file is in memory at a time.
    """
    known: dict[tuple[bytes, bytes], tuple[bytes, bytes] | None] = {}
    for number, line, whole in _numbered(stream):
        head, _, text = line.partition(_INFO)
        call = _CALL.fullmatch(text)
        created = _COMMUNICATOR.fullmatch(text) if call is None else None
        if call is None and created is None:
            if not whole or any(part in line for part in _PARTS):
                yield LogLine(number, b"", None, _torn(number))
            elif (version := _VERSION.search(line)) is not None:
                yield LogLine(number, b"", None, version[1].decode("ascii", "replace"))
            continue
        *before, process, device = head.rsplit(b" ", 2) if b" " in head else (head, b"")
        if (process, device) not in known:
            known[process, device] = _process(process, device)
        speaker = known[process, device]
        if speaker is None:
            yield LogLine(number, b"", None, _torn(number))
        elif call is not None:
            yield LogLine(number, before[0] if before else b"", speaker, CallLine(*call.groups()))
        elif created is not None:
            found = _FIELD.findall(created["more"])
            fields = {(name or other).decode(): value or pointer for name, value, other, pointer in found}
            what, rank, ranks = created["what"].decode(), int(created["rank"]), int(created["nranks"])
            yield LogLine(number, b"", speaker, CommunicatorLine(what, created["comm"], rank, ranks, fields))


def _process(process: bytes, device: bytes) -> tuple[bytes, bytes] | None:
    match = _PROCESS.fullmatch(process)
    return None if match is None or _DEVICE.fullmatch(device) is None else (match[1], match[2])


def _torn(number: int) -> InputRefusal:
    return InputRefusal(
        f"line {number}",
        "is no whole call: the lines of several threads or processes are mixed, or the log was cut",
        "write a file for each process (NCCL_DEBUG_FILE=log.%h.%p); leave torn lines out with --on-error skip",
    )


def _numbered(stream: BinaryIO) -> Iterator[tuple[int, bytes, bool]]:
    """Every line with its number from 1, and whether it ends. Raises ``InputRefusal`` for one that never does."""
    rest, number = b"", 0
    while data := stream.read(SLICE_BYTES):
        rest += data
        *lines, rest = rest.split(b"\n")
        for line in lines:
            number += 1
            yield number, line.rstrip(b"\r"), True
        if len(rest) > LONGEST_LINE:
            raise InputRefusal(
                f"line {number + 1}", f"has more than {LONGEST_LINE:,} bytes", "give the text that NCCL wrote"
            )
    if rest.strip():
        yield number + 1, rest, False
