"""The entries of a basic trace: process groups first, then every event with the waits where they belong.

``req`` is the event's index in the canary, so that a replayed entry leads back to its event. Both ends of a
point-to-point event carry it; each rank executes one of them. A wait carries the req of what it waits for:

- an event that is needed at once is waited for directly behind its entry. Where the canary knows how much
  compute overlaps it, the wait starts that much later, so that its replayed latency is the exposed part;
- an event with a consumer is waited for directly before the consumer's place, without a start of its own;
- ``send`` and ``recv`` block by themselves in PARAM; with a consumer they become ``isend`` and ``irecv``.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import accumulate
from typing import TYPE_CHECKING

from commcanary.artifacts.events import UNKNOWN
from commcanary.targets.param_counts import MESSAGES, Obstacle

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from commcanary.artifacts.events import Events
    from commcanary.targets.param_format import Entry
    from commcanary.targets.param_shapes import Shape

INIT_REQ = -1


def entries_of(events: Events, shapes: Sequence[Shape | Obstacle], left_out: Container[int]) -> list[Entry]:
    """The array: an init entry per used group, then one entry per event that is not ``left_out`` (a
    point-to-point event has one per end) and the waits.

    ``startTime_ns`` is the sum of gaps up to and with the event.
    """
    body = list(_body(events, shapes, left_out))
    used = sorted({entry["pg_id"] for entry in body})
    return [_init(number, events) for number in used] + body


def _init(number: int, events: Events) -> Entry:
    members = list(events.groups[number].members)
    return {"comms": "init", "pg_id": number, "global_ranks": members, "world_size": len(members), "req": INIT_REQ}


def _body(events: Events, shapes: Sequence[Shape | Obstacle], left_out: Container[int]) -> Iterator[Entry]:
    waiting: dict[int, list[Entry]] = defaultdict(list)
    starts = accumulate(events.gap_ns.tolist())
    columns = zip(
        starts,
        events.signature.tolist(),
        events.consumer.tolist(),
        events.compute_overlap_ns.tolist(),
        strict=True,
    )
    for event, (start, number, consumer, overlap) in enumerate(columns):
        yield from waiting.pop(event, ())
        shape = shapes[number]
        if event in left_out or isinstance(shape, Obstacle):
            continue
        yield from _event_entries(shape, event, start, at_once=consumer == UNKNOWN)
        if consumer != UNKNOWN:
            waiting[consumer].append(_wait(shape, event))
        elif shape.signature.op not in MESSAGES:
            yield _wait(shape, event, None if overlap == UNKNOWN else start + overlap)


def _event_entries(shape: Shape, event: int, start: int, *, at_once: bool) -> Iterator[Entry]:
    s = shape.signature
    entry: Entry = {
        "comms": s.op,
        "req": event,
        "startTime_ns": start,
        "pg_id": s.group,
        "world_size": shape.ranks,
        "in_msg_size": shape.counts.into,
        "out_msg_size": shape.counts.out,
        "dtype": shape.dtype,
        "markers": [s.phase],
    }
    if s.root_rank is not None:
        entry["root"] = s.root_rank
    if s.op not in MESSAGES:
        yield entry
        return
    entry |= {"src_rank": s.sender_rank, "dst_rank": s.receiver_rank, "use_batch": False}
    for end in ("send", "recv") if s.op == "point_to_point" else (s.op,):
        yield entry | {"comms": end if at_once else f"i{end}"}


def _wait(shape: Shape, event: int, start: int | None = None) -> Entry:
    s = shape.signature
    entry: Entry = {
        "comms": "wait",
        "req": event,
        "pg_id": s.group,
        "world_size": shape.ranks,
        "markers": [s.phase],
    }
    return entry if start is None else entry | {"startTime_ns": start}
