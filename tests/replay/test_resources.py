"""What serialises with what."""

from __future__ import annotations

from typing import Any

import pytest

from commcanary.artifacts.events import ProcessGroup, Signature
from commcanary.replay.resources import resource_ids

from .programs import events_of, kind

GROUPS = (
    ProcessGroup("tp", 4),
    ProcessGroup("tp", 2),
    ProcessGroup("default", 4),
    ProcessGroup("", 4),
    ProcessGroup.of("default", (3, 2, 1, 0)),
    ProcessGroup("dp", 4),
)


def p2p(**changes: object) -> Signature:
    fields: dict[str, Any] = {"op": "point_to_point", "payload": 8, "sender_rank": 0, "receiver_rank": 1}
    return kind(**(fields | changes))


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (kind("all_reduce", 8, 0), kind("broadcast", 9, 1, phase="x"), True),  # a name is a stream
        (kind("all_reduce", 8, 0), kind("all_reduce", 8, 5), False),
        (kind("all_reduce", 8, 2), kind("all_reduce", 8, 3), True),  # both unnamed, same ranks
        (kind("all_reduce", 8, 2), kind("all_reduce", 8, 4), False),  # the order of ranks counts
        (p2p(), p2p(payload=99, phase="y"), True),
        (p2p(), p2p(sender_rank=1, receiver_rank=0), False),
        (p2p(), p2p(tag="default", channel="default"), True),
        (p2p(), p2p(tag="t"), False),
        (p2p(channel="a:tag=b"), p2p(channel="a", tag="b:tag=default"), True),  # the published name is one string
        (p2p(), p2p(group=5), False),
        (p2p(), p2p(op="send"), False),  # only point_to_point is pairwise
        (p2p(op="send"), kind("all_reduce", 8, 0), True),
        (p2p(receiver_rank=None), kind("all_reduce", 8, 0), True),
    ],
)
def test_sharing(first: Signature, second: Signature, same: bool) -> None:
    ids = resource_ids(events_of([{"signature": first}, {"signature": second}], GROUPS))
    assert (ids[0] == ids[1]) == same


def test_the_message_sequence_separates_pairs_only() -> None:
    rows = [{"signature": p2p(), "message_sequence": n} for n in (-1, 0, 1, 0)]
    rows += [{"signature": kind("broadcast", 8), "message_sequence": n} for n in (5, -1)]
    ids = resource_ids(events_of(rows, GROUPS)).tolist()
    assert ids[1] == ids[3]
    assert ids[4] == ids[5]
    assert len(set(ids)) == 4
    assert sorted(set(ids)) == [0, 1, 2, 3]
