"""Columns written back as rows of the exchange JSON: what differs from the format's defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from commcanary.artifacts.events import UNKNOWN
from commcanary.artifacts.trace_row import DEFAULT_PRESSURE
from commcanary.units import us_from_ns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commcanary.artifacts.events import ProcessGroup, Signature
    from commcanary.artifacts.trace import Trace


def row_of(trace: Trace, index: int, ids: Mapping[int, str]) -> dict[str, Any]:
    """The exchange row of one event; ``ids`` as from ``written_ids``."""
    events = trace.events
    signature = events.signatures[events.signature[index]]
    group = events.group_of(signature)
    row = operation_fields(signature, group)
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
    if index in ids:
        row["id"] = ids[index]
    if events.consumer[index] != UNKNOWN:
        row["consumed_by"] = ids[int(events.consumer[index])]
    if trace.metadata is not None and trace.metadata[index] is not None:
        row["metadata"] = msgspec.json.decode(trace.metadata[index] or "{}")
    return row


def operation_fields(signature: Signature, group: ProcessGroup) -> dict[str, Any]:
    """The fields that say which operation an event is, defaults left out."""
    fields: dict[str, Any] = msgspec.to_builtins(signature)
    for name, value, default in (("group", group.name, "default"), ("phase", signature.phase, "unknown")):
        fields.pop(name, None)
        if value != default:
            fields[name] = value
    fields["ranks"] = msgspec.to_builtins(group.ranks)
    return fields


def _by_rank(group: ProcessGroup, values_ns: list[int]) -> dict[str, float]:
    return {str(rank): us_from_ns(ns) for rank, ns in zip(group.members, values_ns, strict=True)}
