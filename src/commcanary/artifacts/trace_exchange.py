"""Trace <-> ``commcanary.trace.v1``, the exchange JSON that other tools write and people read.

Times there are microseconds; each start and arrival is rounded to whole ns first (half to even), gaps
and offsets are integer differences. What was rounded is counted in ``notes.rounding``. Fields that the
format does not know are ignored and counted in ``notes.ignored_fields``.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from commcanary.artifacts.jsontext import decode
from commcanary.artifacts.stored import JsonDocument, Kind, Lineage, SourceFile, Stored
from commcanary.artifacts.trace import TRACE_FORMAT, Coverage, Trace, TraceHeader
from commcanary.artifacts.trace_checks import check_trace
from commcanary.artifacts.trace_ids import written_ids
from commcanary.artifacts.trace_order import ordered_gaps
from commcanary.artifacts.trace_rows import Row, RowReader
from commcanary.artifacts.trace_table import TRACE_SCHEMA, from_stored, to_stored
from commcanary.artifacts.trace_writing import row_of
from commcanary.errors import InputRefusal


class _Document(msgspec.Struct):
    format: str
    events: list[Row]
    workload: dict[str, Any] = {}
    system: dict[str, Any] = {}
    lineage: Lineage | None = None
    unknown: dict[str, str] = {}
    assumptions: dict[str, float] = {}
    coverage: tuple[Coverage, ...] = ()
    notes: dict[str, Any] = {}
    source_files: tuple[SourceFile, ...] = ()


class _FieldNames(msgspec.Struct):
    events: list[dict[str, msgspec.Raw]]


def read_exchange(data: bytes) -> Trace:
    """Read exchange JSON.

    Raises ``InputRefusal`` naming the line of malformed text, or the event and field whose value no
    trace may have.
    """
    document = decode(data, _Document)
    if not document.events:
        raise InputRefusal("events", "the trace is empty", "a trace needs one event or more")
    reader = RowReader(document.events)
    order, gap_ns = ordered_gaps(document.events, reader)
    events, start_ns, ids, metadata = reader.columns(order, gap_ns)
    check_trace(events, start_ns)
    notes = dict(document.notes)
    ignored = _ignored(data, document)
    if ignored:
        notes["ignored_fields"] = ignored
    if reader.rounded:
        notes["rounding"] = {"count": reader.rounded, "largest_ns": round(reader.largest_rounding_ns, 9)}
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


def exchange_document(trace: Trace) -> JsonDocument:
    """The exchange JSON of a trace: header fields that are not empty, and one row per event."""
    document: JsonDocument = msgspec.to_builtins(trace.header)
    document.pop("groups", None)  # rows name their ranks
    document["workload"] = trace.header.workload
    document["system"] = trace.header.system
    ids = written_ids(trace)
    document["events"] = [row_of(trace, index, ids) for index in range(len(trace))]
    return document


def _ignored(data: bytes, document: _Document) -> dict[str, int]:
    counted: Counter[str] = Counter()
    for row in decode(data, _FieldNames).events:
        counted.update(row.keys() - _ROW_FIELDS)
    top = decode(data, dict[str, msgspec.Raw])
    counted.update(top.keys() - set(_Document.__struct_fields__))
    return dict(sorted(counted.items()))


_ROW_FIELDS = frozenset(Row.__struct_fields__)


def _to_json(stored: Stored[TraceHeader]) -> JsonDocument:
    return exchange_document(from_stored(stored))


def _from_json(data: bytes) -> Stored[TraceHeader]:
    return to_stored(read_exchange(data))


TRACE = Kind("trace", TRACE_FORMAT, TraceHeader, TRACE_SCHEMA, _to_json, _from_json, states_content_id=False)
"""The trace as an artifact kind."""
