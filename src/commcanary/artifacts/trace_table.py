"""Trace <-> Arrow table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from commcanary.artifacts.arrow_columns import from_lists, from_nullable, whole
from commcanary.artifacts.canonical import canonical_json
from commcanary.artifacts.events import Events, ProcessGroup, Signature
from commcanary.artifacts.factorize import codes_of, combined
from commcanary.artifacts.jsontext import decode
from commcanary.artifacts.stored import Stored
from commcanary.artifacts.trace import Trace, TraceHeader
from commcanary.artifacts.trace_checks import check_trace
from commcanary.artifacts.trace_columns import SIGNATURE_COLUMNS, TRACE_SCHEMA, StoredTrace, trace_table
from commcanary.artifacts.trace_ids import check_ids
from commcanary.artifacts.trace_limits import MAX_GROUPS, MAX_SIGNATURES, check_fits
from commcanary.errors import InputRefusal

if TYPE_CHECKING:
    from numpy.typing import NDArray

_REMEDY = "correct the row or export the trace again"


def to_stored(trace: Trace) -> Stored[TraceHeader]:
    """Header and table of a trace; table columns as ``TRACE_SCHEMA``, one row per event.

    Raises ``InputRefusal`` for a trace of more different operations or groups than a reader would take.
    """
    check_fits(len(trace.events.signatures), MAX_SIGNATURES, "events", "operations")
    check_fits(len(trace.header.groups), MAX_GROUPS, "groups", "process groups")
    return Stored(trace.header, trace_table(trace))


def from_stored(stored: Stored[TraceHeader]) -> Trace:
    """The trace behind a header and table.

    Raises ``InputRefusal`` naming the first row and column whose value no trace may have.
    """
    if isinstance(stored, StoredTrace):
        return stored.trace  # checked, and the same, when it was read
    table = stored.table
    if table is None or table.num_rows == 0:
        raise InputRefusal("events", "the trace is empty", "a trace needs one event or more")
    column = {name: whole(table.column(name)) for name in TRACE_SCHEMA.names}
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
    codes = combined((codes_of(column[name]) for name in SIGNATURE_COLUMNS), count)
    first = np.unique(codes, return_index=True)[1]
    if len(first) > MAX_SIGNATURES:
        check_fits(len(first), MAX_SIGNATURES, f"row {first[MAX_SIGNATURES]}", "operations")
    distinct = {name: column[name].take(pa.array(first)).to_pylist() for name in SIGNATURE_COLUMNS}
    signatures = tuple(Signature(**{name: distinct[name][i] for name in SIGNATURE_COLUMNS}) for i in range(len(first)))
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
