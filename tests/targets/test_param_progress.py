from __future__ import annotations

import pytest

from commcanary.targets.param_progress import partners, standstill

from .test_param_check import QUAD, end, sized, wait

TRIO = {"comms": "init", "pg_id": 2, "global_ranks": [1, 2, 3], "world_size": 3, "req": -1}
HALF = {"comms": "init", "pg_id": 0, "global_ranks": [2, 3], "world_size": 2, "req": -1}


def test_the_kth_send_meets_the_kth_receive_of_its_channel():
    entries = [
        end("send", 0, 0, 1),
        end("isend", 1, 0, 1),
        end("recv", 2, 1, 0),
        end("recv", 3, 0, 1),
        end("irecv", 4, 0, 1),
        end("recv", 5, 0, 1, group=0),
    ]
    assert partners(entries) == {0: 3, 3: 0, 1: 4, 4: 1}


@pytest.mark.parametrize(
    ("entries", "awaited"),
    [
        # both ranks send first
        ([QUAD, end("send", 0, 0, 1), end("send", 1, 1, 0), end("recv", 2, 0, 1), end("recv", 3, 1, 0)], {1, 2}),
        # rank 0 does not wait for its send before it receives
        (
            [QUAD, end("isend", 0, 0, 1), end("send", 1, 1, 0), end("recv", 2, 1, 0), end("recv", 3, 0, 1), wait(0, 1)],
            set(),
        ),
        # a ring of three
        (
            [
                QUAD,
                *(end("send", rank, rank, (rank + 1) % 3) for rank in range(3)),
                *(end("recv", 3 + rank, (rank + 2) % 3, rank) for rank in range(3)),
            ],
            {1, 2, 3},
        ),
        # the receiver's group waits for the sender between the two ends
        ([QUAD, end("send", 0, 0, 1), sized("all_reduce", 1, group=1), wait(1, 1), end("recv", 2, 0, 1)], {1, 2}),
        # the same collective, waited for only behind the receive
        ([QUAD, end("send", 0, 0, 1), sized("all_reduce", 1, group=1), end("recv", 2, 0, 1), wait(1, 1)], set()),
        # a collective of two other ranks lies between them
        ([QUAD, HALF, end("send", 0, 0, 1), sized("all_reduce", 1), wait(1), end("recv", 2, 0, 1)], set()),
        # the receiver waits for rank 2, which waits for the sender
        (
            [
                QUAD,
                TRIO,
                end("send", 0, 0, 1),
                end("recv", 1, 0, 2),
                sized("all_reduce", 2, group=2),
                wait(2, 2),
                end("recv", 3, 0, 1),
                end("send", 4, 0, 2),
            ],
            {2, 3, 4},
        ),
    ],
)
def test_who_waits_for_ever(entries, awaited):
    assert standstill(entries) == awaited
