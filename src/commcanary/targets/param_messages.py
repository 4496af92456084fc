"""Sends and receives brought together as PARAM's consumer will bring them together.

PARAM replays every message with tag 0, so the k-th send of a sender to a receiver on a process group meets
the k-th receive there. An end without its other end would stand still for ever, and ends of different
length or tag would not be the message of the trace: both have no entry.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import zip_longest
from typing import TYPE_CHECKING

from commcanary.targets.param_counts import Obstacle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commcanary.artifacts.events import Events
    from commcanary.targets.param_shapes import Shape


def lost_ends(
    events: Events, shapes: Sequence[Shape | Obstacle], skipped: Mapping[int, Obstacle]
) -> dict[int, Obstacle]:
    """Obstacles of the ``send`` and ``recv`` events whose other end is missing, skipped or different.

    ``skipped`` holds the events that have an obstacle of their own. A ``point_to_point`` event has both ends.
    """
    lost: dict[int, Obstacle] = {}
    for sends, receives in _channels(events).values():
        for send, receive in zip_longest(sends, receives):
            if send is None or receive is None:
                alone = receive if send is None else send
                lost[alone] = _alone(events, alone)
            elif send != receive:
                lost |= _pair(events, shapes, skipped, send, receive)
    return {event: obstacle for event, obstacle in lost.items() if event not in skipped}


_Channel = tuple[list[int], list[int]]


def _channels(events: Events) -> dict[tuple[int, int, int], _Channel]:
    """(group, sender, receiver) -> the events that send and those that receive there, in program order."""
    ends = [_ends(signature.op) for signature in events.signatures]
    channels: dict[tuple[int, int, int], _Channel] = defaultdict(lambda: ([], []))
    for event, number in enumerate(events.signature.tolist()):
        sends, receives = ends[number]
        if not (sends or receives):
            continue
        s = events.signatures[number]
        if s.sender_rank is None or s.receiver_rank is None:
            continue  # has an obstacle of its own
        sending, receiving = channels[s.group, s.sender_rank, s.receiver_rank]
        if sends:
            sending.append(event)
        if receives:
            receiving.append(event)
    return channels


def _ends(op: str) -> tuple[bool, bool]:
    return op in ("send", "point_to_point"), op in ("recv", "point_to_point")


def _pair(
    events: Events,
    shapes: Sequence[Shape | Obstacle],
    skipped: Mapping[int, Obstacle],
    send: int,
    receive: int,
) -> dict[int, Obstacle]:
    for event, other in ((send, receive), (receive, send)):
        if other in skipped and event not in skipped:
            why = f"belongs to events[{other}], which has no entry ({skipped[other].reason})"
            return {event: Obstacle("other end is not exported", "op", why, "mend that event")}
    if send in skipped:
        return {}
    sent, received = (int(events.signature[event]) for event in (send, receive))
    one, other_one = shapes[sent], shapes[received]
    tags = events.signatures[sent].tag, events.signatures[received].tag
    if isinstance(one, Obstacle) or isinstance(other_one, Obstacle):
        return {}
    if (one.counts, one.dtype) == (other_one.counts, other_one.dtype) and tags[0] == tags[1]:
        return {}
    found = (
        f"meets events[{receive}] in PARAM, which has no tags, but "
        f"{one.counts.into} x {one.dtype} with tag {tags[0]} is not "
        f"{other_one.counts.out} x {other_one.dtype} with tag {tags[1]}"
    )
    obstacle = Obstacle("ends of a message differ", "op", found, "order sends and receives alike")
    return {send: obstacle, receive: obstacle}


def _alone(events: Events, event: int) -> Obstacle:
    s = events.signatures[int(events.signature[event])]
    missing = "receive" if s.op == "send" else "send"
    return Obstacle(
        "one-sided message",
        "op",
        f"is {s.op} from rank {s.sender_rank} to rank {s.receiver_rank} without the {missing} that belongs to it",
        "give both ends, or one point_to_point event",
    )
