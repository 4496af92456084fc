from __future__ import annotations

import pytest

from commcanary.targets.param import ParamSettings, export_param
from commcanary.targets.param_check import verdicts
from commcanary.targets.param_consumers import CONSUMER_FAULTS, CONSUMERS, faults_of

from .canaries import canary_of, event

HEAD = "train/comms/pt"
LAUNCHED = "train/comms/pt with launcher"
LAUNCHED_BLOCKING = "train/comms/pt with launcher, --z 1"
BEFORE_FB81F66 = "train/comms/pt before fb81f66"
BEFORE_8B87AFD = "train/comms/pt before 8b87afd"
BEFORE_4CE22B7 = "train/comms/pt before 4ce22b7"
ET_REPLAY = "et_replay comm_replay"

ENDS = {"sender_rank": 1, "receiver_rank": 0}


@pytest.mark.parametrize(
    ("events", "replays"),
    [
        # an all-reduce and its wait
        (
            [event()],
            {HEAD: 0, LAUNCHED: 2, LAUNCHED_BLOCKING: 1, BEFORE_FB81F66: 1, BEFORE_8B87AFD: 2, BEFORE_4CE22B7: 2},
        ),
        (
            [event("broadcast", root_rank=1)],
            {LAUNCHED: 2, LAUNCHED_BLOCKING: 1, BEFORE_FB81F66: 0, BEFORE_8B87AFD: 2, BEFORE_4CE22B7: 2},
        ),
        ([event("broadcast", ranks=[1, 2], root_rank=2)], {LAUNCHED: 2, BEFORE_FB81F66: 0, BEFORE_8B87AFD: 0}),
        ([event("broadcast", ranks=[1, 2])], {LAUNCHED: 0, BEFORE_FB81F66: 0, BEFORE_8B87AFD: 0}),
        (
            [event("point_to_point", **ENDS)],
            {LAUNCHED: 2, LAUNCHED_BLOCKING: 2, BEFORE_FB81F66: 2, BEFORE_8B87AFD: 2, BEFORE_4CE22B7: 0},
        ),
        (
            [event("point_to_point", **ENDS, ranks=3)],
            {LAUNCHED: 2, LAUNCHED_BLOCKING: 0, BEFORE_FB81F66: 0, BEFORE_8B87AFD: 2},
        ),
        # a message that is waited for later: isend, irecv, wait, then an all-reduce and its wait
        (
            [event("point_to_point", **ENDS, consumed_by="x"), event(id="x")],
            {LAUNCHED: 0, LAUNCHED_BLOCKING: 3, BEFORE_FB81F66: 3, BEFORE_8B87AFD: 0},
        ),
    ],
)
def test_how_many_entries_each_consumer_replays(events, replays):
    account = export_param(canary_of(*events), ParamSettings()).account
    found = {verdict.consumer: verdict.replays for verdict in account.consumers}
    assert found == {**found, **replays, HEAD: 0, ET_REPLAY: 0}


def test_a_verdict_names_entries_effect_and_commits():
    account = export_param(canary_of(event(), event("broadcast", root_rank=1)), ParamSettings()).account
    old = next(v for v in account.consumers if v.consumer == BEFORE_8B87AFD)
    assert (old.commit, old.entries, old.replays) == ("83f5cff", 4, 4)
    assert [(b.entry_class, b.entries, b.effect, b.since, b.until) for b in old.breaks_on] == [
        ("broadcast from another root than rank 0", 1, "replayed differently", None, "8b87afd")
    ]


def test_entries_that_an_export_never_holds_are_judged_too():
    init = {"comms": "init", "pg_id": 0, "global_ranks": [0], "world_size": 1, "req": -1}
    gemm = {"compute": "gemm", "mm_dim": 8, "dtype": "float32"}
    unknown = {"comms": "all_reduce_coalesced", "req": 0, "pg_id": 0}
    wide = {"comms": "all_reduce", "req": 1, "pg_id": 0, "dtype": "int64"}

    def replays(*entries):
        return {v.consumer: v.replays for v in verdicts([init, *entries])}

    assert (replays(gemm)[LAUNCHED], replays(gemm)[BEFORE_FB81F66], replays(gemm)[BEFORE_8B87AFD]) == (1, 0, 1)
    assert replays(gemm, unknown)[LAUNCHED] == 1
    assert replays(gemm, wide)[LAUNCHED] == 0


def test_every_fault_is_one_of_some_consumer():
    known = {fault for consumer in CONSUMERS for fault in faults_of(consumer)}
    assert known == set(CONSUMER_FAULTS)
