"""The columns of the trace's Arrow table, made from a trace one at a time or for a stretch of its rows.

A trace that was read from exchange JSON is held once: as a ``Trace``. Its content id and its commitment need every
column, but never all of them at once, so the table itself is made only where one is asked for.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from commcanary.artifacts.arrow_columns import lists, nullable
from commcanary.artifacts.content import columns_digest
from commcanary.artifacts.events import Signature
from commcanary.artifacts.stored import Stored
from commcanary.artifacts.trace import Trace, TraceHeader

if TYPE_CHECKING:
    from collections.abc import Iterator

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

SIGNATURE_COLUMNS = tuple(field for field in Signature.__struct_fields__)


def columns(trace: Trace, start: int = 0, stop: int | None = None) -> Iterator[tuple[str, pa.Array]]:
    """The columns of rows ``start`` to ``stop`` in name order, each made when it is asked for."""
    stop = len(trace) if stop is None else min(stop, len(trace))
    used, which = np.unique(trace.events.signature[start:stop], return_inverse=True)
    signatures = [trace.events.signatures[number] for number in used.tolist()]
    index = pa.array(which.astype(np.int32))
    for name in sorted(TRACE_SCHEMA.names):
        if name in SIGNATURE_COLUMNS:
            distinct = pa.array([getattr(one, name) for one in signatures], TRACE_SCHEMA.field(name).type)
            yield name, distinct.take(index)
        else:
            yield name, _own_column(trace, name, start, stop)


def trace_table(trace: Trace, start: int = 0, stop: int | None = None) -> pa.Table:
    """Rows ``start`` to ``stop`` of a trace as a table of ``TRACE_SCHEMA``."""
    made = dict(columns(trace, start, stop))
    return pa.table([made[name] for name in TRACE_SCHEMA.names], schema=TRACE_SCHEMA)


class StoredTrace(Stored[TraceHeader]):
    """A checked trace as an artifact whose table is made only where one is asked for."""

    _trace: Trace

    def __init__(self, trace: Trace) -> None:
        # decoded, or numbered from what was decoded: of the declared types already
        object.__setattr__(self, "header", trace.header)
        # a trace of its own: one that knows this artifact would never be let go
        object.__setattr__(self, "_trace", replace(trace))

    @property
    def trace(self) -> Trace:
        """The trace, knowing that this artifact is its own."""
        trace = replace(self._trace)
        vars(trace)["stored"] = self
        return trace

    @property
    def rows(self) -> int:
        """Number of events."""
        return len(self._trace)

    def table_of(self, start: int, count: int) -> pa.Table:
        """The table of ``count`` rows from ``start`` on."""
        return trace_table(self._trace, start, start + count)

    @cached_property
    def table(self) -> pa.Table:
        """The whole table."""
        return trace_table(self._trace)

    @cached_property
    def table_digest(self) -> str:
        """Digest of the table's logical values, without the table."""
        return columns_digest(columns(self._trace))


def _own_column(trace: Trace, name: str, start: int, stop: int) -> pa.Array:
    events = trace.events
    match name:
        case "id" | "metadata":
            texts = trace.ids if name == "id" else trace.metadata
            return pa.nulls(stop - start, pa.string()) if texts is None else pa.array(texts[start:stop], pa.string())
        case "offsets_ns":
            return lists(events.offsets_ns.part(start, stop))
        case "rank_compute_before_ns":
            return lists(events.rank_compute_before_ns.part(start, stop))
        case "gap_ns" | "compute_pressure" | "compute_uncertain":
            return pa.array(getattr(events, name)[start:stop])
        case "start_ns":
            return nullable(trace.start_ns[start:stop])
        case "consumed_by":
            return nullable(events.consumer[start:stop])
    return nullable(getattr(events, name)[start:stop])
