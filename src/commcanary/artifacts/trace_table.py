"""Trace <-> Arrow table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from commcanary.artifacts.arrow_columns import from_lists, from_nullable, lists, nullable
from commcanary.artifacts.canonical import canonical_json
from commcanary.artifacts.events import Events, ProcessGroup, Signature
from commcanary.artifacts.factorize import codes_of, combined
from commcanary.artifacts.jsontext import decode
from commcanary.artifacts.stored import Stored
from commcanary.artifacts.trace import Trace, TraceHeader
from commcanary.artifacts.trace_checks import check_trace
from commcanary.artifacts.trace_ids import check_ids
from commcanary.errors import InputRefusal

if TYPE_CHECKING:
    from numpy.typing import NDArray

_REMEDY = "correct the row or export the trace again"
_LIST = pa.list_(pa.int64())

TRACE_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("op", pa.string()),
        ("bytes", pa.int64()),
        ("in_elements", pa.int64()),
        ("out_elements", pa.int64()),
        ("dtype", pa.string()),
        ("group", pa.int64()),
        ("phase", pa.string()),
        ("start_ns", pa.int64()),
        ("gap_ns", pa.int64()),
        ("offsets_ns", _LIST),
        ("compute_before_ns", pa.int64()),
        ("rank_compute_before_ns", _LIST),
        ("compute_overlap_ns", pa.int64()),
        ("compute_pressure", pa.float64()),
        ("compute_uncertain", pa.bool_()),
        ("concurrent_groups", pa.int64()),
        ("observed_exposed_ns", pa.int64()),
        ("sender_rank", pa.int64()),
        ("receiver_rank", pa.int64()),
        ("message_sequence", pa.int64()),
        ("tag", pa.string()),
        ("channel", pa.string()),
        ("custom_op", pa.bool_()),
        ("root_rank", pa.int64()),
        ("reduction_op", pa.string()),
        ("consumed_by", pa.int64()),
        ("metadata", pa.string()),
    ]
)

_SIGNATURE_COLUMNS = tuple(field for field in Signature.__struct_fields__)


def to_stored(trace: Trace) -> Stored[TraceHeader]:
    """Header and table of a trace; table columns as ``TRACE_SCHEMA``, one row per event."""
    events = trace.events
    columns: dict[str, pa.Array] = {
        "id": pa.array(trace.ids or [None] * len(events), pa.string()),
        "metadata": pa.array(trace.metadata or [None] * len(events), pa.string()),
        "start_ns": nullable(trace.start_ns),
        "gap_ns": pa.array(events.gap_ns),
        "offsets_ns": lists(events.offsets_ns),
        "compute_before_ns": nullable(events.compute_before_ns),
        "rank_compute_before_ns": lists(events.rank_compute_before_ns),
        "compute_overlap_ns": nullable(events.compute_overlap_ns),
        "compute_pressure": pa.array(events.compute_pressure),
        "compute_uncertain": pa.array(events.compute_uncertain),
        "observed_exposed_ns": nullable(events.observed_exposed_ns),
        "message_sequence": nullable(events.message_sequence),
        "consumed_by": nullable(events.consumer),
    }
    for name in _SIGNATURE_COLUMNS:
        distinct = pa.array([getattr(s, name) for s in events.signatures], TRACE_SCHEMA.field(name).type)
        columns[name] = distinct.take(pa.array(events.signature))
    table = pa.table([columns[name] for name in TRACE_SCHEMA.names], schema=TRACE_SCHEMA)
    return Stored(trace.header, table)


def from_stored(stored: Stored[TraceHeader]) -> Trace:
    """The trace behind a header and table.

    Raises ``InputRefusal`` naming the first row and column whose value no trace may have.
    """
    table = stored.table
    if table is None or table.num_rows == 0:
        raise InputRefusal("events", "the trace is empty", "a trace needs one event or more")
    column = {name: table.column(name).combine_chunks() for name in TRACE_SCHEMA.names}
    header = stored.header
    events = _events(column, header, table.num_rows)
    start_ns = from_nullable(column["start_ns"], "start_ns")
    check_trace(events, start_ns)
    ids = None if column["id"].null_count == table.num_rows else tuple(column["id"].to_pylist())
    check_ids(ids, events.consumer)
    trace = Trace.of(header, events, start_ns, ids, _metadata(column["metadata"]))
    in_one_form = tuple(ProcessGroup.of(group.name, group.members) for group in trace.header.groups)
    if in_one_form != header.groups or trace.ids != ids:
        raise InputRefusal(
            "groups or column id",
            "are not in their one form (groups distinct, in order of first use, 0 ... n-1 as a count; no made-up ids)",
            _REMEDY,
        )
    vars(trace)["stored"] = stored  # already hashed, and equal to what the columns would give
    return trace


def _metadata(column: pa.Array) -> tuple[str | None, ...] | None:
    if column.null_count == len(column):
        return None
    texts = tuple(column.to_pylist())
    for row, text in enumerate(texts):
        if text is not None and canonical_json(decode(text.encode(), dict[str, Any])).decode() != text:
            raise InputRefusal(f"row {row} column metadata", "is not a canonical JSON object", _REMEDY)
    return texts


def _events(column: dict[str, Any], header: TraceHeader, count: int) -> Events:
    for name in (
        "op",
        "bytes",
        "group",
        "phase",
        "gap_ns",
        "compute_pressure",
        "compute_uncertain",
        "concurrent_groups",
        "custom_op",
    ):
        _refuse_where(np.asarray(column[name].is_null()), name, "is null", column[name])
    group = np.asarray(column["group"])
    _refuse_where(
        (group < 0) | (group >= len(header.groups)),
        "group",
        f"is not one of the header's {len(header.groups)} groups",
        column["group"],
    )
    codes = combined((codes_of(column[name]) for name in _SIGNATURE_COLUMNS), count)
    first = np.unique(codes, return_index=True)[1]
    distinct = {name: column[name].take(pa.array(first)).to_pylist() for name in _SIGNATURE_COLUMNS}
    signatures = tuple(Signature(**{name: distinct[name][i] for name in _SIGNATURE_COLUMNS}) for i in range(len(first)))
    return Events(
        groups=header.groups,
        signatures=signatures,
        signature=codes.astype(np.int32),
        gap_ns=from_nullable(column["gap_ns"], "gap_ns"),
        offsets_ns=from_lists(column["offsets_ns"], "offsets_ns"),
        compute_before_ns=from_nullable(column["compute_before_ns"], "compute_before_ns"),
        rank_compute_before_ns=from_lists(column["rank_compute_before_ns"], "rank_compute_before_ns"),
        compute_overlap_ns=from_nullable(column["compute_overlap_ns"], "compute_overlap_ns"),
        compute_pressure=np.asarray(column["compute_pressure"], dtype=np.float64),
        observed_exposed_ns=from_nullable(column["observed_exposed_ns"], "observed_exposed_ns"),
        message_sequence=from_nullable(column["message_sequence"], "message_sequence"),
        consumer=from_nullable(column["consumed_by"], "consumed_by"),
        compute_uncertain=np.asarray(column["compute_uncertain"].fill_null(False)).astype(np.bool_),
    )


def _refuse_where(wrong: NDArray[np.bool_], name: str, what: str, column: pa.Array) -> None:
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputRefusal(
            f"row {row} column {name}",
            f"{column[row].as_py()} {what}",
            _REMEDY,
        )
