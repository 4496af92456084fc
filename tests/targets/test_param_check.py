from __future__ import annotations

import pytest

from commcanary.targets.param_check import check_array, replayed_on

PAIR = {"comms": "init", "pg_id": 0, "global_ranks": [0, 1], "world_size": 2, "req": -1}
QUAD = {"comms": "init", "pg_id": 1, "global_ranks": [0, 1, 2, 3], "world_size": 4, "req": -1}


def sized(comms, req, into=8, out=8, group=0, **more):
    return {
        "comms": comms,
        "req": req,
        "pg_id": group,
        "world_size": 4 if group else 2,
        "in_msg_size": into,
        "out_msg_size": out,
        "dtype": "float32",
        **more,
    }


def end(comms, req, source, target, group=1, **more):
    return sized(comms, req, group=group, src_rank=source, dst_rank=target, use_batch=False, **more)


def wait(req, group=0):
    return {"comms": "wait", "req": req, "pg_id": group, "world_size": 4 if group else 2}


@pytest.mark.parametrize(
    "entries",
    [
        [],
        [PAIR, sized("all_reduce", 0), wait(0)],
        [sized("all_reduce", 0), PAIR],  # init entries are read in a pass of their own
        [PAIR, sized("all_gather", 0, 4, 8), sized("reduce_scatter", 1, 8, 4), sized("all_to_all", 2)],
        [PAIR, sized("all_to_allv", 0, 3, 5, in_split=[1, 2], out_split=[])],
        [PAIR, sized("all_reduce", 0, dtype="BFloat16"), {"comms": "barrier", "pg_id": 0, "req": 1}],
        [PAIR, {"compute": "gemm", "mm_dim": 8, "dtype": "float32"}],
        [QUAD, end("send", 0, 1, 3), end("recv", 0, 1, 3), end("isend", 1, 3, 1), end("irecv", 1, 3, 1), wait(1, 1)],
    ],
)
def test_arrays_that_follow_the_rules(entries):
    assert check_array(entries) == ()


@pytest.mark.parametrize(
    ("document", "entry", "words"),
    [
        ({"traceEvents": []}, None, "no list"),
        ([3], 0, "no object"),
        ([{"req": 1}], 0, "neither comms nor compute"),
        ([{"compute": "conv"}], 0, "compute 'conv'"),
        ([PAIR, sized("all_reduce_coalesced", 0)], 1, "skips it without a word"),
        ([{"comms": "init", "pg_id": 0, "req": -1, "world_size": 2}], 0, "needs pg_id and global_ranks"),
        ([PAIR | {"global_ranks": [1, 1]}], 0, "each rank once"),
        ([PAIR | {"world_size": 3}], 0, "world_size is 3 for 2"),
        ([PAIR, PAIR], 1, "two init entries"),
        ([sized("all_reduce", 0)], 0, "pg_id 0 has no init entry"),
        ([PAIR, sized("all_reduce", 0, world_size=None)], 1, "world_size is None"),
        ([PAIR, sized("all_reduce", 0, out=None)], 1, "in_msg_size and out_msg_size are 8 and None"),
        ([PAIR, sized("all_reduce", 0, -8)], 1, "are -8 and 8"),
        ([PAIR, sized("all_reduce", 0, dtype="int64")], 1, "dtype 'int64' is not one of"),
        ([PAIR, sized("all_reduce", 0, dtype="float8_e4m3fn")], 1, "dtype 'float8_e4m3fn'"),
        ([PAIR, sized("all_gather", 0)], 1, "not 2 times in_msg_size 8"),
        ([PAIR, sized("all_gather_base", 0, 4, 9)], 1, "out_msg_size is 9"),
        ([PAIR, sized("reduce_scatter", 0, 9, 4)], 1, "in_msg_size is 9"),
        ([PAIR, sized("reduce_scatter", 0, 8, 8)], 1, "not 2 times out_msg_size 8"),
        ([PAIR, sized("all_to_all", 0, 9, 8)], 1, "drops the remainder"),
        ([PAIR, sized("all_to_allv", 0)], 1, "in_split is missing"),
        ([PAIR, sized("broadcast", 0, root="0")], 1, "root is '0'"),
        ([PAIR, wait(4)], 1, "no earlier entry has"),
        ([PAIR, wait(0), sized("all_reduce", 0)], 1, "no earlier entry has"),
        ([PAIR, sized("all_reduce", 0), sized("all_reduce", 0)], 2, "taken by entry 1"),
        ([QUAD, end("send", 0, 1, 7)], 1, "no two ranks of the group"),
        ([QUAD, end("send", 0, 1, 1)], 1, "no two ranks of the group"),
        ([QUAD, end("send", 0, 1, 2) | {"use_batch": True}], 1, "use_batch is True"),
        ([QUAD, end("send", 0, 1, 2)], 1, "without its other end"),
        ([QUAD, end("send", 0, 1, 2), end("recv", 0, 2, 1)], 1, "without its other end"),
        ([QUAD, end("send", 0, 1, 2), end("recv", 0, 1, 2, into=4)], 1, "another size"),
        ([QUAD, end("send", 0, 1, 2), sized("all_reduce", 1, group=1), wait(1, 1), end("recv", 2, 1, 2)], 1, "still"),
    ],
)
def test_arrays_that_break_a_rule(document, entry, words):
    broken = check_array(document)
    assert broken
    assert broken[0].entry == entry
    assert words in broken[0].found


def test_a_rank_executes_its_groups_entries_and_its_own_end_of_a_message():
    entries = [PAIR, QUAD, sized("all_reduce", 0), wait(0), end("send", 1, 1, 3), end("recv", 1, 1, 3)]
    assert [replayed_on(entries, rank) for rank in range(5)] == [
        {"all_reduce": 1, "wait": 1},
        {"all_reduce": 1, "send": 1, "wait": 1},
        {},
        {"recv": 1},
        {},
    ]
