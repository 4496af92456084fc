"""Matched calls of all ranks -> the columns of a trace."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.events import STANDARD_OPS, UNKNOWN, Events, ProcessGroup, Ragged, Signature
from commcanary.artifacts.trace_row import DEFAULT_PRESSURE
from commcanary.sources.capture.matching import MESSAGES
from commcanary.sources.capture.waits import consumers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from commcanary.sources.capture.matching import Matched
    from commcanary.sources.capture.shard import Shard

    Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Merged:
    """Events in order of start, their starts counted from the first, and how many have uneven sizes."""

    events: Events
    start_ns: Ints
    uneven: int


@dataclass(frozen=True)
class _Part:
    """The events of one program: int64[members, n] or [n]."""

    signatures: list[Signature]
    signature: Ints
    arrival: Ints
    before: Ints
    overlap: Ints
    exposed: Ints
    uneven: int


def merged_events(shards: Sequence[Shard], groups: Sequence[Matched], shared_clock: bool) -> Merged:
    """Columns of all events.

    A rank arrives where it issues the call; an event starts at its first arrival, or on clocks that cannot be
    compared at its first member's. ``compute_before`` is the smallest of the ranks', overlap and exposed time
    are those of the rank that was exposed longest.
    """
    of_rank = {shard.rank: shard for shard in shards}
    numbers: dict[ProcessGroup, int] = {}
    parts = [_part(of_rank, group, numbers.setdefault(group.group, len(numbers))) for group in groups]
    start = np.concatenate([p.arrival.min(axis=0) if shared_clock else p.arrival[0] for p in parts])
    order = np.argsort(start, kind="stable")
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    start = start[order] - start[order[0]]
    begins = np.cumsum([0, *(part.arrival.shape[1] for part in parts)])
    events_of = [position[begin:end] for begin, end in itertools.pairwise(begins)]
    shifts = np.cumsum([0, *(len(part.signatures) for part in parts)])
    signature = np.concatenate([p.signature + shift for p, shift in zip(parts, shifts, strict=False)])[order]
    before = [np.where((p.before == UNKNOWN).any(axis=0), UNKNOWN, p.before.min(axis=0)) for p in parts]
    overlap, exposed = (np.concatenate(columns)[order] for columns in zip(*map(_longest, parts), strict=True))
    if (exposed == UNKNOWN).any():
        exposed[:] = UNKNOWN
    count = len(order)
    events = Events(
        groups=tuple(numbers),
        signatures=tuple(s for part in parts for s in part.signatures),
        signature=signature.astype(np.int32),
        gap_ns=np.diff(start, prepend=0),
        offsets_ns=_lists([p.arrival - p.arrival.min(axis=0) for p in parts]).take(order)
        if shared_clock
        else Ragged.unknown(count),
        compute_before_ns=np.concatenate(before)[order],
        rank_compute_before_ns=_lists([p.before for p in parts]).take(order),
        compute_overlap_ns=overlap,
        compute_pressure=np.full(count, DEFAULT_PRESSURE),
        observed_exposed_ns=exposed,
        message_sequence=np.full(count, UNKNOWN, np.int64),
        consumer=consumers(shards, groups, events_of),
        compute_uncertain=np.ones(count, np.bool_),
    )
    return Merged(events, start, sum(part.uneven for part in parts))


def _part(of_rank: dict[int, Shard], group: Matched, number: int) -> _Part:
    members = [(of_rank[rank], calls) for rank, calls in zip(group.group.members, group.calls, strict=True)]
    signatures, signature, uneven = _signatures(members, number)

    def rows(name: str) -> Ints:
        return np.stack([getattr(shard, name)[calls] for shard, calls in members])

    on_host = np.stack([_on_host(shard)[calls] for shard, calls in members])
    wait, done = rows("wait"), rows("done")
    shift = np.asarray([shard.said.clock.offset_ns or 0 for shard, _ in members], np.int64)[:, None]
    return _Part(
        signatures,
        signature,
        rows("issue") + shift,
        np.where(on_host, rows("before"), UNKNOWN),
        np.where(wait != UNKNOWN, rows("overlap"), UNKNOWN),
        np.where((wait != UNKNOWN) & (done != UNKNOWN), np.maximum(done - wait, 0), UNKNOWN),
        uneven,
    )


def _on_host(shard: Shard) -> NDArray[np.bool_]:
    return np.asarray([key.device == "cpu" for key in shard.said.keys], np.bool_)[shard.key]


def _longest(part: _Part) -> tuple[Ints, Ints]:
    """Overlap and exposed time of the rank that was exposed longest; unknown where a rank's are."""
    longest, at = part.exposed.argmax(axis=0), np.arange(part.exposed.shape[1])
    known = ((part.exposed != UNKNOWN) & (part.overlap != UNKNOWN)).all(axis=0)
    return (
        np.where(known, part.overlap[longest, at], UNKNOWN),
        np.where(known, part.exposed[longest, at], UNKNOWN),
    )


def _signatures(members: list[tuple[Shard, Ints]], group: int) -> tuple[list[Signature], Ints, int]:
    """Distinct signatures, the number of each event's, and how many events have sizes that differ by rank.

    Of those the largest rank's bytes count and the element counts are unknown.
    """
    codes = np.stack([shard.key[calls] for shard, calls in members])
    distinct, signature = np.unique(codes, axis=1, return_inverse=True)
    result, uneven = [], np.zeros(distinct.shape[1], np.bool_)
    for number, column in enumerate(distinct.T.tolist()):
        said = [shard.said.keys[key] for (shard, _), key in zip(members, column, strict=True)]
        first = said[0]
        uneven[number] = len({(key.bytes, key.in_elements, key.out_elements) for key in said}) > 1
        message = first.op in MESSAGES
        op = "point_to_point" if message else first.op
        phases = {key.phase for key in said}
        result.append(
            Signature(
                op=op,
                bytes=max(key.bytes for key in said),
                group=group,
                phase=phases.pop() if len(phases) == 1 else "unknown",
                sender_rank=members[0][0].rank if message else None,
                receiver_rank=members[1][0].rank if message else None,
                tag=first.tag,
                custom_op=op not in STANDARD_OPS,
                dtype=first.dtype,
                root_rank=first.root,
                reduction_op=first.reduction,
                in_elements=None if uneven[number] or first.in_elements == UNKNOWN else first.in_elements,
                out_elements=None if uneven[number] or first.out_elements == UNKNOWN else first.out_elements,
            )
        )
    signature = signature.reshape(-1).astype(np.int64)
    return result, signature, int(uneven[signature].sum())


def _lists(rows: list[Ints]) -> Ragged:
    """One list per event of each int64[members, n], in that order; unknown where one of its entries is."""
    known = np.concatenate([(r != UNKNOWN).all(axis=0) for r in rows])
    sizes = np.concatenate([np.full(r.shape[1], r.shape[0], np.int64) for r in rows])
    values = np.concatenate([r.T.reshape(-1) for r in rows])
    bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.where(known, sizes, 0))])
    return Ragged(values[np.repeat(known, sizes)], bounds, known)
