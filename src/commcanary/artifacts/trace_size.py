"""Length of a trace's canonical exchange JSON, computed from the columns without writing the text.

A million rows are hundreds of megabytes of JSON; a compiler that only quotes the size need not make them.
"""

from __future__ import annotations

from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from commcanary.artifacts.canonical import canonical_json
from commcanary.artifacts.events import UNKNOWN, Ragged
from commcanary.artifacts.trace_ids import written_ids
from commcanary.artifacts.trace_row import DEFAULT_PRESSURE
from commcanary.artifacts.trace_writing import operation_fields

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.artifacts.trace import Trace


_POWERS_OF_TEN = np.array([10**power for power in range(1, 19)], np.int64)


def exchange_size(trace: Trace) -> int:
    """Bytes of ``json_bytes(TRACE, ...)`` of the trace."""
    events = trace.events
    header = msgspec.to_builtins(trace.header)
    header.pop("groups", None)
    around = canonical_json({**header, "workload": trace.header.workload, "system": trace.header.system, "events": []})
    rows = int(_row_sizes(trace).sum()) + len(events) - 1
    return len(around) + rows


def _row_sizes(trace: Trace) -> NDArray[np.int64]:
    """int64[n]: bytes of each row, braces included. Every row has a field, so commas are fields - 1."""
    events = trace.events
    fixed = np.array(
        [len(canonical_json(operation_fields(s, events.group_of(s)))) for s in events.signatures], np.int64
    )
    size: NDArray[np.int64] = fixed[events.signature]
    size += _field("gap_us") + us_text_sizes(events.gap_ns)
    for name, column in (
        ("start_us", trace.start_ns),
        ("compute_before_us", events.compute_before_ns),
        ("observed_exposed_us", events.observed_exposed_ns),
    ):
        size += np.where(column == UNKNOWN, 0, _field(name) + us_text_sizes(column))
    overlap = events.compute_overlap_ns
    size += np.where(overlap > 0, _field("compute_overlap_us") + us_text_sizes(overlap), 0)
    size += np.where(overlap == UNKNOWN, _flag("compute_overlap_unknown"), 0)
    size += _per_rank("rank_arrival_us", trace, events.offsets_ns, skip_zeros=True)
    size += np.where(events.offsets_ns.known, 0, _flag("arrival_skew_unknown"))
    size += _per_rank("rank_compute_before_us", trace, events.rank_compute_before_ns, skip_zeros=False)
    pressure, which = np.unique(events.compute_pressure, return_inverse=True)
    text = np.array(
        [0 if p == DEFAULT_PRESSURE else _field("compute_pressure") + len(repr(float(p))) for p in pressure]
    )
    size += text[which]
    size += np.where(events.compute_uncertain, _flag("compute_fields_uncertain"), 0)
    sequence = events.message_sequence
    size += np.where(sequence == UNKNOWN, 0, _field("message_sequence") + _digits(np.maximum(sequence, 0)))
    whole: NDArray[np.int64] = size + _named(trace)
    return whole


def us_text_sizes(ns: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64[n]: characters of ``repr(ns / 1000)``: whole part, point, one to three decimals."""
    magnitude = np.maximum(ns, 0)
    trailing_zeros = (magnitude % 10 == 0).astype(np.int64) + (magnitude % 100 == 0)
    sizes: NDArray[np.int64] = _digits(magnitude // 1000) + 4 - trailing_zeros
    return sizes


def _digits(values: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.searchsorted(_POWERS_OF_TEN, values, side="right") + 1


def _field(name: str) -> int:
    """Comma, quotes, colon and name; the value comes on top."""
    return len(name) + 4


def _flag(name: str) -> int:
    return _field(name) + len("true")


def _per_rank(name: str, trace: Trace, ragged: Ragged, *, skip_zeros: bool) -> NDArray[np.int64]:
    """The object rank -> us of each row that is written (known, and not all zero where those are left out)."""
    events = trace.events
    keys = np.array(
        [sum(len(str(rank)) + 3 for rank in group.members) + group.size - 1 + 2 for group in events.groups],
        np.int64,
    )
    group = np.array([s.group for s in events.signatures], np.int64)[events.signature]
    text = np.concatenate([np.zeros(1, np.int64), np.cumsum(us_text_sizes(ragged.values))])
    values = text[ragged.bounds[1:]] - text[ragged.bounds[:-1]]
    written = ragged.known & (ragged.largest() > 0) if skip_zeros else ragged.known
    return np.where(written, _field(name) + keys[group] + values, 0)


def _named(trace: Trace) -> NDArray[np.int64]:
    size = np.zeros(len(trace), np.int64)
    ids = np.zeros(len(trace), np.int64)
    for index, name in written_ids(trace).items():
        ids[index] = len(encode_basestring_ascii(name))
    size += np.where(ids > 0, _field("id") + ids, 0)
    consumer = trace.events.consumer
    size += np.where(consumer == UNKNOWN, 0, _field("consumed_by") + ids[consumer])
    if trace.metadata is not None:
        for index, text in enumerate(trace.metadata):
            size[index] += 0 if text is None else _field("metadata") + len(text)
    return size
