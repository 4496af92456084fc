"""The lines of an Inspector file, typed as far as an import needs them.

The plugin (NCCL 2.28 and later) appends a JSON object a line for every operation that ended. Up to format v4.2 each
repeats its communicator; from v4.3 on a ``dump_stats`` line states it once for the records that follow. Fields are
what counts here, never the stated version.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, BinaryIO, NamedTuple

import msgspec

from commcanary.artifacts.jsontext import refusal_of
from commcanary.artifacts.trace_checks import MAX_RANK, MAX_RANKS
from commcanary.errors import InputRefusal
from commcanary.units import MAX_TIME_US

if TYPE_CHECKING:
    from collections.abc import Iterator

SLICE_BYTES = 4 << 20
LONGEST_LINE = 4 << 20
"""Bytes; a verbose record of 64 channels takes about 20,000."""

Number = Annotated[int, msgspec.Meta(ge=0, lt=2**40)]
"""Sequence numbers; NCCL counts from 0."""
Size = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
Time = Annotated[int, msgspec.Meta(ge=0, le=4 * 10**15)]
"""Microseconds since 1970."""
Duration = Annotated[int, msgspec.Meta(ge=0, le=int(MAX_TIME_US))]
Rank = Annotated[int, msgspec.Meta(ge=0, le=MAX_RANK)]

_MALFORMED = re.compile(r"JSON is malformed: (?P<what>.*) \(byte (?P<byte>\d+)\)")


class Header(msgspec.Struct):
    """The communicator of a record: ``rank`` is the recording process' rank in it, of ``n_ranks``."""

    id: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    rank: Rank
    n_ranks: Annotated[int, msgspec.Meta(ge=1, le=MAX_RANKS)]
    comm_name: str = ""


class Metadata(msgspec.Struct):
    """The process that wrote a record, and the format that it says it wrote."""

    inspector_output_format_version: str = ""
    hostname: str = ""
    pid: int = 0


class Kernel(msgspec.Struct):
    """A channel of a record's kernel: when the host saw it end, in us since 1970; 0 where it did not."""

    kernel_stop_ts: Time = 0


class CollectiveTimes(msgspec.Struct):
    """Of verbose records: when the host launched the collective, in us since 1970."""

    coll_start_ts: Time = 0
    kernel_events: list[Kernel] = []


class MessageTimes(msgspec.Struct):
    """The same of a send or receive."""

    p2p_start_ts: Time = 0
    kernel_events: list[Kernel] = []


class Collective(msgspec.Struct):
    """A collective. ``coll_sn`` counts the calls of one operation on one communicator, from 0.

    ``coll_msg_size_bytes`` is NCCL's count argument times the element's size, ``coll_exec_time_us`` the longest of
    its channels' times in whole microseconds.
    """

    coll: str
    coll_sn: Number
    coll_msg_size_bytes: Size
    coll_exec_time_us: Duration
    coll_timing_source: str = ""
    event_trace_ts: CollectiveTimes | None = None


class Message(msgspec.Struct):
    """A send or receive. ``p2p_sn`` counts those that the process recorded on the communicator, from 1."""

    p2p: str
    p2p_sn: Number
    p2p_peer: Rank
    p2p_msg_size_bytes: Size
    p2p_exec_time_us: Duration
    p2p_timing_source: str = ""
    event_trace_ts: MessageTimes | None = None


class DumpStats(msgspec.Struct):
    """What one dump of a communicator wrote, and what its rings had overwritten since the communicator began."""

    coll_records: Size = 0
    coll_dropped_total: Size = 0
    p2p_records: Size = 0
    p2p_dropped_total: Size = 0


class Line(msgspec.Struct):
    """One line; records of proxies and whatever else it may hold are not read."""

    header: Header | None = None
    metadata: Metadata | None = None
    coll_perf: Collective | None = None
    p2p_perf: Message | None = None
    dump_stats: DumpStats | None = None
    proxy_trace: msgspec.Raw = msgspec.Raw()


class Numbered(NamedTuple):
    """A line that could be read, or why not; ``number`` counts from 1."""

    number: int
    line: Line | None
    fault: InputRefusal | None


_DECODER = msgspec.json.Decoder(Line)


def lines_of(stream: BinaryIO) -> Iterator[Numbered]:
    """Every line of ``stream`` that is not blank, in order, a slice of the file in memory at a time."""
    number = 1
    for text in _slices(stream):
        count = text.count(b"\n") + (not text.endswith(b"\n"))
        try:
            read = _DECODER.decode_lines(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            read = []
        if len(read) == count:
            for at, line in enumerate(read):
                yield Numbered(number + at, line, None)
        else:
            for at, part in enumerate(text.split(b"\n")):
                if part.strip():
                    yield _decoded(number + at, part)
        number += count


def _slices(stream: BinaryIO) -> Iterator[bytes]:
    """The text in slices that end between two lines. Raises ``InputRefusal`` for a line that never ends."""
    rest = b""
    while data := stream.read(SLICE_BYTES):
        rest += data
        end = rest.rfind(b"\n") + 1
        if end:
            yield rest[:end]
            rest = rest[end:]
        if len(rest) > LONGEST_LINE:
            raise InputRefusal(
                "text", f"holds a line of more than {LONGEST_LINE:,} bytes", "the plugin writes one JSON object a line"
            )
    if rest.strip():
        yield rest


def _decoded(number: int, text: bytes) -> Numbered:
    try:
        return Numbered(number, _DECODER.decode(text), None)
    except msgspec.ValidationError as error:
        return Numbered(number, None, refusal_of(error, f"line {number}"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        match = _MALFORMED.match(str(error))
        ended = "truncated" in str(error) or match is None
        place = f"line {number}" if ended or match is None else f"line {number} column {int(match['byte']) + 1}"
        found = "the JSON text ends too early" if ended or match is None else f"not valid JSON ({match['what']})"
        remedy = "the plugin writes one JSON object a line; leave torn lines out with --on-error skip"
        return Numbered(number, None, InputRefusal(place, found, remedy))
