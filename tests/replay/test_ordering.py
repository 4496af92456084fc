"""The order of replay under the ordering ablation."""

from __future__ import annotations

from commcanary.artifacts.events import ProcessGroup
from commcanary.replay.ordering import replayed_order

from .programs import events_of, kind

KINDS = [  # in ascending order: phase, op, bytes, group, ranks, sender, receiver, tag, channel; null first
    kind("all_reduce", 9, 0, phase="a"),
    kind("all_gather", 9, 1, phase="b"),
    kind("broadcast", 8, 1, phase="b"),
    kind("broadcast", 9, 1, phase="b"),
    kind("broadcast", 9, 2, phase="b"),
    kind("broadcast", 9, 0, phase="b"),
    kind("broadcast", 9, 0, phase="b", tag="x"),
    kind("broadcast", 9, 0, phase="b", sender_rank=0),
    kind("broadcast", 9, 0, phase="b", sender_rank=0, receiver_rank=0),
    kind("broadcast", 9, 0, phase="b", sender_rank=0, receiver_rank=1, tag="a", channel="z"),
    kind("broadcast", 9, 0, phase="b", sender_rank=0, receiver_rank=1, tag="b"),
    kind("broadcast", 9, 0, phase="b", sender_rank=2),
]
GROUPS = (ProcessGroup("z", 2), ProcessGroup("g", 2), ProcessGroup.of("g", (0, 2)))


def test_sorted_by_kind_when_ablated_and_untouched_otherwise() -> None:
    events = events_of([{"signature": kind} for kind in reversed(KINDS)], GROUPS)
    assert replayed_order(events, ("operation_ordering",)).tolist() == list(range(len(KINDS)))[::-1]
    assert replayed_order(events, ()).tolist() == list(range(len(KINDS)))


def test_equal_kinds_keep_their_order_and_dtype_is_no_kind() -> None:
    first, second = kind("broadcast", 8), kind("broadcast", 8, dtype="int8")
    events = events_of([{"signature": s} for s in (second, first, KINDS[0], first, second)], GROUPS)
    assert replayed_order(events, ("operation_ordering",)).tolist() == [2, 0, 1, 3, 4]
