from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commcanary.artifacts.files import read_artifact
from commcanary.errors import EXIT_REFUSED, InputRefusal, UsageError
from commcanary.targets.param import ParamSettings, export_param
from commcanary.targets.param_account import PARAM_ACCOUNT
from commcanary.targets.param_check import check_array

from .canaries import canary_of, event

STRICT = ParamSettings()
LENIENT = ParamSettings(skip_unsupported=True)


def exported(*events, settings=STRICT):
    return export_param(canary_of(*events), settings)


def sizes(export):
    return [(e["comms"], e["in_msg_size"], e["out_msg_size"]) for e in export.entries if "in_msg_size" in e]


@pytest.mark.parametrize(
    ("op", "ranks", "size", "into", "out"),
    [
        ("all_reduce", 4, 4096, 1024, 1024),
        ("broadcast", 4, 4096, 1024, 1024),
        ("all_gather", 4, 4096, 256, 1024),
        ("reduce_scatter", 4, 4096, 1024, 256),
        ("all_to_all", 4, 4096, 1024, 1024),
        ("all_gather", 3, 36, 3, 9),
        ("reduce_scatter", 1, 40, 10, 10),
    ],
)
def test_bytes_are_the_full_size_of_nccl_tests(op, ranks, size, into, out):
    assert sizes(exported(event(op, size, ranks=ranks))) == [(op, into, out)]


@pytest.mark.parametrize(
    ("op", "stated", "into", "out"),
    [
        ("all_gather", {"in_elements": 512}, 512, 1024),
        ("all_gather", {"out_elements": 1024}, 512, 1024),
        ("reduce_scatter", {"out_elements": 512}, 1024, 512),
        ("all_reduce", {"in_elements": 1024, "out_elements": 1024}, 1024, 1024),
    ],
)
def test_stated_element_counts_are_kept(op, stated, into, out):
    assert sizes(exported(event(op, 4096, **stated))) == [(op, into, out)]


@pytest.mark.parametrize(
    ("dtype", "name", "elements"),
    [
        ("int64", "long", 512),
        ("int16", "short", 2048),
        ("bfloat16", "bfloat16", 2048),
        ("BFloat16", "bfloat16", 2048),
        ("float64", "float64", 512),
        ("bool", "bool", 4096),
    ],
)
def test_element_types_get_param_names(dtype, name, elements):
    entry = exported(event(dtype=dtype)).entries[1]
    assert (entry["dtype"], entry["in_msg_size"]) == (name, elements)


def test_a_declared_dtype_serves_only_events_without_one():
    export = exported(event(), event(dtype=None), settings=ParamSettings(dtype="int64"))
    assert [e["dtype"] for e in export.entries if "dtype" in e] == ["float32", "long"]
    assert (export.account.declared_dtype, export.account.declared_dtype_events) == ("int64", 1)


def test_a_declared_dtype_must_have_a_param_name():
    with pytest.raises(UsageError, match=r"--dtype is 'float8_e5m2'; PARAM knows float, .*int64"):
        ParamSettings(dtype="float8_e5m2")


def test_groups_come_first_and_keep_their_ranks():
    export = exported(event(ranks=[4, 2], group="a"), event(group="b"), event(ranks=[4, 2], group="c"))
    inits = export.entries[:3]
    assert [(e["comms"], e["global_ranks"], e["world_size"], e["req"]) for e in inits] == [
        ("init", [4, 2], 2, -1),
        ("init", [0, 1], 2, -1),
        ("init", [4, 2], 2, -1),
    ]
    assert len({e["pg_id"] for e in inits}) == 3
    assert export.account.world_size_needed == 5


def test_starts_are_sums_of_gaps_and_waits_follow_the_overlap():
    export = exported(
        event(gap_us=5.0, compute_overlap_us=20.0),
        event(gap_us=100.25, compute_overlap_unknown=True),
    )
    assert [(e["comms"], e["req"], e.get("startTime_ns")) for e in export.entries[1:]] == [
        ("all_reduce", 0, 5_000),
        ("wait", 0, 25_000),
        ("all_reduce", 1, 105_250),
        ("wait", 1, None),
    ]


def test_what_is_consumed_later_is_waited_for_before_its_consumer():
    export = exported(event(consumed_by="late"), event(), event(consumed_by="late"), event(id="late"))
    assert [(e["comms"], e["req"]) for e in export.entries[1:]] == [
        ("all_reduce", 0),
        ("all_reduce", 1),
        ("wait", 1),
        ("all_reduce", 2),
        ("wait", 0),
        ("wait", 2),
        ("all_reduce", 3),
        ("wait", 3),
    ]
    assert all("startTime_ns" not in e for e in export.entries if e["comms"] == "wait" and e["req"] in (0, 2))


def test_a_skipped_consumer_still_marks_the_place_of_the_wait():
    export = exported(event(consumed_by="late"), event(), event(id="late", dtype=None), event(), settings=LENIENT)
    assert [(e["comms"], e["req"]) for e in export.entries[1:]] == [
        ("all_reduce", 0),
        ("all_reduce", 1),
        ("wait", 1),
        ("wait", 0),
        ("all_reduce", 3),
        ("wait", 3),
    ]


def test_a_message_has_an_entry_for_each_end():
    ends = {"sender_rank": 1, "receiver_rank": 0}
    export = exported(event("point_to_point", **ends, consumed_by="late"), event("point_to_point", **ends, id="late"))
    assert [(e["comms"], e["req"]) for e in export.entries[1:]] == [
        ("isend", 0),
        ("irecv", 0),
        ("wait", 0),
        ("send", 1),
        ("recv", 1),
    ]
    assert {(e["src_rank"], e["dst_rank"], e["use_batch"], e["in_msg_size"]) for e in export.entries[1:3]} == {
        (1, 0, False, 1024)
    }
    assert export.account.exported == {"point_to_point": 2}


def test_a_receiver_without_input_tensor_keeps_the_message_length():
    ends = {"sender_rank": 0, "receiver_rank": 1, "in_elements": 0, "out_elements": 1024}
    assert sizes(exported(event("point_to_point", **ends))) == [("send", 1024, 1024), ("recv", 1024, 1024)]


def test_root_and_phase_are_carried_and_an_unknown_root_is_left_out():
    known, unknown = (
        e for e in exported(event("broadcast", root_rank=1), event("broadcast")).entries if e["comms"] == "broadcast"
    )
    assert (known["root"], known["markers"]) == (1, ["step"])
    assert "root" not in unknown


ENDS = {"sender_rank": 0, "receiver_rank": 1}
REFUSED = [
    ([event("fused", custom_op=True)], "events[0].op", "custom operation 'fused'"),
    ([event("reduce", custom_op=True)], "events[0].op", "custom operation 'reduce'"),
    ([event(), event(dtype=None)], "events[1].dtype", "--dtype"),
    ([event(dtype="float8_e4m3fn")], "events[0].dtype", "'float8_e4m3fn'"),
    ([event(dtype="uint64")], "events[0].dtype", "'uint64'"),
    ([event(size=10)], "events[0].bytes", "no multiple of the 4 bytes of float32"),
    ([event(in_elements=7)], "events[0].bytes", "7 elements of float32 are 28"),
    ([event("reduce_scatter", 20)], "events[0].bytes", "5 elements, which 2 ranks cannot share evenly"),
    ([event("all_gather", 20)], "events[0].bytes", "5 elements, which 2 ranks cannot share evenly"),
    ([event("all_to_all", 20)], "events[0].bytes", "5 elements, which 2 ranks cannot share evenly"),
    ([event("all_to_all", in_elements=1024, out_elements=512)], "events[0].in_elements", "split of every rank"),
    ([event("all_gather", in_elements=1024, out_elements=1024)], "events[0].in_elements", "split of every rank"),
    ([event("send", sender_rank=0)], "events[0].receiver_rank", "is unknown"),
    ([event("recv", receiver_rank=0)], "events[0].sender_rank", "is unknown"),
    ([event("send", **ENDS)], "events[0].op", "without the receive"),
    ([event(), event("recv", **ENDS)], "events[1].op", "without the send"),
    ([event("send", **ENDS), event("recv", **ENDS, group="other")], "events[0].op", "without the receive"),
    ([event("send", **ENDS), event("recv", 2048, **ENDS)], "events[0].op", "1024 x float32"),
    ([event("send", **ENDS, tag="a"), event("recv", **ENDS, tag="b")], "events[0].op", "which has no tags"),
    ([event("send", **ENDS), event(), event("recv", **ENDS)], "events[0].op", "stand still"),
]


@pytest.mark.parametrize(("events", "place", "words"), REFUSED)
def test_what_has_no_equivalent_is_refused(events, place, words):
    with pytest.raises(InputRefusal) as caught:
        exported(*events)
    assert caught.value.exit_code == EXIT_REFUSED
    assert caught.value.place == place
    assert words in str(caught.value)
    assert "--skip-unsupported" in str(caught.value)
    assert f"{events[0]['group']}" in str(caught.value)


@pytest.mark.parametrize(("events", "place", "words"), REFUSED)
def test_or_left_out_and_counted(events, place, words):
    export = exported(*events, event("broadcast", 64, root_rank=0), settings=LENIENT)
    account = export.account
    skipped = sum(s.events for s in account.skipped)
    assert skipped >= 1
    assert sum(account.exported.values()) + skipped == account.events == len(events) + 1
    assert f"events[{min(s.first_event for s in account.skipped)}]" == place.split(".")[0]
    assert check_array(list(export.entries)) == ()
    assert {e["req"] for e in export.entries if e["comms"] == "broadcast"} == {len(events)}


def test_an_export_of_nothing_is_refused_either_way():
    with pytest.raises(InputRefusal, match="no event of the canary can be exported"):
        exported(event(dtype=None), settings=LENIENT)


def test_the_other_end_of_a_skipped_end_goes_too():
    export = exported(event("send", **ENDS, dtype=None), event("recv", **ENDS), event(), settings=LENIENT)
    assert [(s.op, s.reason, s.events, s.first_event) for s in export.account.skipped] == [
        ("recv", "other end is not exported", 1, 1),
        ("send", "dtype unknown", 1, 0),
    ]


def test_messages_that_cross_are_told_from_messages_that_block():
    there, back = ENDS, {"sender_rank": 1, "receiver_rank": 0}
    crossing = [event("send", **there), event("send", **back), event("recv", **there), event("recv", **back)]
    with pytest.raises(InputRefusal, match="stand still"):
        exported(*crossing)
    free = [e | {"consumed_by": "end"} if e["op"] == "send" else e for e in crossing]
    assert len(exported(*free, event(id="end")).entries) == 1 + 4 + 2 + 2


def test_what_an_entry_cannot_say_is_counted():
    account = exported(
        event(rank_arrival_us=[0.0, 3.0], reduction_op="max", concurrent_groups=2),
        event(arrival_skew_unknown=True, compute_overlap_unknown=True, reduction_op="sum", channel="1"),
        event("broadcast", tag="t"),
    ).account
    said = account.not_carried
    assert (said.arrival_skew, said.arrival_unknown, said.compute_overlap_unknown) == (1, 1, 1)
    assert (said.reduction_other_than_sum, said.root_unknown) == (1, 1)
    assert (said.tag, said.channel, said.concurrent_groups) == (1, 1, 1)


def test_the_files_are_a_bare_array_and_an_account_that_binds_it(tmp_path):
    canary = canary_of(event(phase="décodage"), event("all_gather"))
    array, account = export_param(canary, STRICT).file_bytes()
    assert array == export_param(canary, STRICT).array
    assert array.isascii()
    assert [e["comms"] for e in json.loads(array)] == ["init", "all_reduce", "wait", "all_gather", "wait"]
    path = tmp_path / "trace.account.json"
    path.write_bytes(account)
    read = read_artifact(path, PARAM_ACCOUNT).header
    assert read.canary_content_id == canary.content_id
    assert read.array_sha256 == hashlib.sha256(array).hexdigest()
    assert read.entries == {"all_gather": 1, "all_reduce": 1, "init": 1, "wait": 2}
    assert json.loads(account)["format"] == "commcanary.param-account.v1"


@st.composite
def programs(draw):
    """Events of all kinds, some without an equivalent, some consumed later."""
    count = draw(st.integers(1, 12))
    events = []
    for index in range(count):
        op = draw(st.sampled_from(["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "point_to_point", "x"]))
        ranks = draw(st.sampled_from([2, 3, [1, 3]]))
        members = list(range(ranks)) if isinstance(ranks, int) else ranks
        row = event(op, draw(st.integers(1, 60)), ranks=ranks, id=str(index), gap_us=draw(st.integers(0, 9)))
        row["group"] = str(ranks)
        row["dtype"] = draw(st.sampled_from(["float32", "bfloat16", "uint8", None, "float8_e5m2"]))
        row["custom_op"] = op == "x"
        if op == "point_to_point":
            row |= {"sender_rank": members[-1], "receiver_rank": members[0]}
        if index + 1 < count and draw(st.booleans()):
            row["consumed_by"] = str(draw(st.integers(index + 1, count - 1)))
        events.append(row)
    return [event(size=240), *events]


FULL_SIDE = {"all_gather": "out_msg_size", "reduce_scatter": "in_msg_size"}
WIDTH = {"float32": 4, "bfloat16": 2, "uint8": 1}


@settings(max_examples=80, deadline=None)
@given(programs())
def test_every_export_closes_keeps_bytes_and_waits_in_the_right_place(events):
    export = export_param(canary_of(*events), LENIENT)
    account, entries = export.account, list(export.entries)
    skipped = sum(s.events for s in account.skipped)
    assert sum(account.exported.values()) + skipped == len(events)
    assert check_array(entries) == ()
    position = {e["req"]: i for i, e in enumerate(entries) if e["comms"] != "wait"}
    assert len(position) - 1 == len(events) - skipped  # one req is that of the init entries
    for index, entry in enumerate(entries):
        if entry["comms"] == "init":
            continue
        row = events[entry["req"]]
        if entry["comms"] != "wait":
            assert entry[FULL_SIDE.get(row["op"], "in_msg_size")] * WIDTH[row["dtype"]] == row["bytes"]
            continue
        assert index > position[entry["req"]]
        later = [e["req"] for e in entries[index:] if e["comms"] != "wait"]
        earlier = [e["req"] for e in entries[:index] if e["comms"] != "wait"]
        consumer = int(row["consumed_by"]) + 1 if "consumed_by" in row else entry["req"] + 1
        assert all(req >= consumer for req in later)
        assert all(req < consumer for req in earlier)
    waited = sorted(e["req"] for e in entries if e["comms"] == "wait")
    blocking = {e["req"] for e in entries if e["comms"] in ("send", "recv")}
    assert waited == sorted(set(position) - blocking - {-1})
