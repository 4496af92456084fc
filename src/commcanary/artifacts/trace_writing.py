"""Columns written back as rows of the exchange JSON: what differs from the format's defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from commcanary.artifacts.events import UNKNOWN
from commcanary.artifacts.trace_rows import DEFAULT_PRESSURE
from commcanary.units import us_from_ns

if TYPE_CHECKING:
    from commcanary.artifacts.events import ProcessGroup
    from commcanary.artifacts.trace import Trace


def row_of(trace: Trace, index: int, consumers: frozenset[int]) -> dict[str, Any]:
    """The exchange row of one event: what differs from the format's defaults.

    ``consumers`` are the events that others name as the first to need their result.
    """
    events = trace.events
    signature = events.signatures[events.signature[index]]
    group = events.group_of(signature)
    row: dict[str, Any] = msgspec.to_builtins(signature)
    row["ranks"] = msgspec.to_builtins(group.ranks)
    row.pop("group", None)
    if group.name != "default":
        row["group"] = group.name
    row["gap_us"] = us_from_ns(events.gap_ns[index])
    for name, column in (
        ("start_us", trace.start_ns),
        ("compute_before_us", events.compute_before_ns),
        ("observed_exposed_us", events.observed_exposed_ns),
    ):
        if column[index] != UNKNOWN:
            row[name] = us_from_ns(column[index])
    if events.compute_overlap_ns[index] == UNKNOWN:
        row["compute_overlap_unknown"] = True
    elif events.compute_overlap_ns[index]:
        row["compute_overlap_us"] = us_from_ns(events.compute_overlap_ns[index])
    offsets = events.offsets_ns.row(index)
    if offsets is None:
        row["arrival_skew_unknown"] = True
    elif any(offsets):
        row["rank_arrival_us"] = _by_rank(group, offsets)
    before = events.rank_compute_before_ns.row(index)
    if before is not None:
        row["rank_compute_before_us"] = _by_rank(group, before)
    if events.compute_pressure[index] != DEFAULT_PRESSURE:
        row["compute_pressure"] = float(events.compute_pressure[index])
    if events.compute_uncertain[index]:
        row["compute_fields_uncertain"] = True
    if events.message_sequence[index] != UNKNOWN:
        row["message_sequence"] = int(events.message_sequence[index])
    _name_row(trace, index, consumers, row)
    return row


def _name_row(trace: Trace, index: int, consumers: frozenset[int], row: dict[str, Any]) -> None:
    """Ids where the trace has them; made-up ones (``#7``) only where a consumer must be named."""
    own = None if trace.ids is None else trace.ids[index]
    if own is not None or index in consumers:
        row["id"] = _id(trace, index)
    if trace.events.consumer[index] != UNKNOWN:
        row["consumed_by"] = _id(trace, int(trace.events.consumer[index]))
    if trace.metadata is not None and trace.metadata[index] is not None:
        row["metadata"] = msgspec.json.decode(trace.metadata[index] or "{}")


def _id(trace: Trace, index: int) -> str:
    own = None if trace.ids is None else trace.ids[index]
    return own if own is not None else f"#{index}"


def _by_rank(group: ProcessGroup, values_ns: list[int]) -> dict[str, float]:
    return {str(rank): us_from_ns(ns) for rank, ns in zip(group.members, values_ns, strict=True)}
