"""Trace <-> ``commcanary.trace.v1``, the exchange JSON that other tools write and people read.

Times there are microseconds; each start and arrival is rounded to whole ns first (half to even), gaps
and offsets are integer differences. What was rounded is counted in ``notes.rounding``. Fields that the
format does not know are ignored and counted in ``notes.ignored_fields``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from commcanary.artifacts.header_parts import check_parts, field_texts
from commcanary.artifacts.json_slices import array_slices
from commcanary.artifacts.jsontext import decode
from commcanary.artifacts.stored import JsonDocument, Kind, Lineage, SourceFile, Stored
from commcanary.artifacts.trace import TRACE_FORMAT, Coverage, Trace, TraceHeader
from commcanary.artifacts.trace_checks import check_trace
from commcanary.artifacts.trace_columns import TRACE_SCHEMA, StoredTrace
from commcanary.artifacts.trace_ids import written_ids
from commcanary.artifacts.trace_limits import TRACE_LIMITS
from commcanary.artifacts.trace_order import ordered_gaps
from commcanary.artifacts.trace_row import Row, check_lengths
from commcanary.artifacts.trace_row_keys import RowKeys
from commcanary.artifacts.trace_rows import RowReader
from commcanary.artifacts.trace_table import from_stored
from commcanary.artifacts.trace_writing import row_of
from commcanary.errors import InputRefusal

if TYPE_CHECKING:
    from collections.abc import Iterator

_BATCH = 4096
_FREE_FORM = ("workload", "system", "notes")
MAX_FREE_FORM_BYTES = 2**20
"""Bytes of workload, system or notes, which may hold any JSON object."""


class _Document(msgspec.Struct):
    format: str
    events: msgspec.Raw
    workload: dict[str, Any] = {}
    system: dict[str, Any] = {}
    lineage: Lineage | None = None
    unknown: dict[str, str] = {}
    assumptions: dict[str, float] = {}
    coverage: tuple[Coverage, ...] = ()
    notes: dict[str, Any] = {}
    source_files: tuple[SourceFile, ...] = ()


def read_exchange(data: bytes) -> Trace:
    """Read exchange JSON, its events a batch at a time: decoded, a row takes ten times what its text does.

    Raises ``InputRefusal`` naming the line of malformed text, a key that is given twice, or the event and field
    whose value no trace may have.
    """
    parts = field_texts(data, _Document)
    check_parts(parts, {**TRACE_LIMITS, "events": ()})
    _check_free_form(parts)
    document = decode(data, _Document)
    reader, keys = RowReader(), RowKeys(frozenset(_Document.__struct_fields__))
    for texts in _batches(document.events):
        first = reader.count
        for index, text in enumerate(texts, first):
            check_lengths(text, f"events[{index}]")
        rows = [decode(text, Row, f"events[{index}]") for index, text in enumerate(texts, first)]
        keys.add(texts, rows, first)
        reader.add(rows)
    if not reader.count:
        raise InputRefusal("events", "the trace is empty", "a trace needs one event or more")
    keys.add_beside_events(data)
    columns = reader.read.taken()
    order, gap_ns = ordered_gaps(columns, reader.rounding)
    ids, metadata = reader.read.ids.in_order(order), reader.read.metadata.in_order(order)
    start_ns = columns.start_ns if order is None else columns.start_ns[order]
    events = reader.events(columns, order, gap_ns, ids)
    rounding = reader.rounding
    del columns, reader
    check_trace(events, start_ns)
    notes = dict(document.notes)
    if keys.ignored:
        notes["ignored_fields"] = dict(sorted(keys.ignored.items()))
    if rounding.count:
        notes["rounding"] = {"count": rounding.count, "largest_ns": round(rounding.largest_ns, 9)}
    header = TraceHeader(
        workload=document.workload,
        system=document.system,
        lineage=document.lineage,
        unknown=document.unknown,
        assumptions=document.assumptions,
        coverage=document.coverage,
        notes=notes,
        source_files=document.source_files,
    )
    return Trace.of(header, events, start_ns, ids, metadata)


def _batches(events: msgspec.Raw) -> Iterator[list[bytes]]:
    """The texts of the rows, some thousand at a time."""
    if bytes(memoryview(events)[:1]) != b"[":
        decode(bytes(events), list[msgspec.Raw], "events")  # says what it is instead of an array
    for elements in array_slices(events):
        for first in range(0, len(elements), _BATCH):
            yield [bytes(text) for text in elements[first : first + _BATCH]]


def _check_free_form(parts: dict[str, msgspec.Raw]) -> None:
    """Raise ``InputRefusal`` where the objects that may hold anything are too long for what they are for."""
    for name in _FREE_FORM:
        size = memoryview(parts.get(name, b"")).nbytes
        if size > MAX_FREE_FORM_BYTES:
            raise InputRefusal(name, f"has {size:,} bytes", f"at most {MAX_FREE_FORM_BYTES:,} bytes describe a trace")


def exchange_document(trace: Trace) -> JsonDocument:
    """The exchange JSON of a trace: header fields that are not empty, and one row per event."""
    document: JsonDocument = msgspec.to_builtins(trace.header)
    document.pop("groups", None)  # rows name their ranks
    document["workload"] = trace.header.workload
    document["system"] = trace.header.system
    ids = written_ids(trace)
    document["events"] = [row_of(trace, index, ids) for index in range(len(trace))]
    return document


def _to_json(stored: Stored[TraceHeader]) -> JsonDocument:
    return exchange_document(from_stored(stored))


def _from_json(data: bytes) -> Stored[TraceHeader]:
    return StoredTrace(read_exchange(data))


TRACE = Kind(
    "trace",
    TRACE_FORMAT,
    TraceHeader,
    TRACE_SCHEMA,
    _to_json,
    _from_json,
    states_content_id=False,
    limits=TRACE_LIMITS,
)
"""The trace as an artifact kind."""
