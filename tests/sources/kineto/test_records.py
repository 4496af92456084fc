"""Variants of ``record_param_comms``: which fields say what, and what is refused rather than guessed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commcanary.errors import InputRefusal
from commcanary.sources.calls.imported import Imported
from commcanary.sources.kineto.importer import import_kineto
from commcanary.sources.kineto.settings import KinetoSettings

from .profiles import group, info, kernel, profile, record, span, written

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.artifacts.events import Signature


def imported(
    tmp_path: Path, events: list[dict[str, Any]], settings: KinetoSettings | None = None, **head: Any
) -> Imported:
    return import_kineto([written(tmp_path / "p.json", profile(events, **head))], settings)


def only(done: Imported) -> Signature:
    (signature,) = done.trace.events.signatures
    return signature


OPERATIONS = [
    ("allreduce", "all_reduce", 1024, 1024, False),
    ("allreduce_coalesced", "all_reduce", 2048, 2048, False),
    ("_allgather_base", "all_gather", 1024, 2048, False),
    ("allgather", "all_gather", 1024, 2048, False),
    ("allgather_into_tensor_coalesced", "all_gather", 1024, 2048, False),
    ("_reduce_scatter_base", "reduce_scatter", 2048, 1024, False),
    ("reduce_scatter_tensor_coalesced", "reduce_scatter", 2048, 1024, False),
    ("broadcast", "broadcast", 1024, 1024, False),
    ("all_to_all", "all_to_all", 1024, 1024, False),
    ("all_to_allv", "all_to_all", 1024, 1536, False),
    ("reduce", "reduce", 1024, 1024, True),
    ("gather", "gather", 1024, 2048, True),
    ("scatter", "scatter", 1024, 512, True),
    ("something_new", "something_new", 7, 7, True),
]


@pytest.mark.parametrize(("name", "op", "given", "got", "custom"), OPERATIONS)
def test_operations_and_sizes(tmp_path: Path, name: str, op: str, given: int, got: int, custom: bool) -> None:
    row = only(imported(tmp_path, [record(name, elements=given, out=got, dtype="BFloat16")]))
    assert (row.op, row.custom_op, row.in_elements, row.out_elements) == (op, custom, given, got)
    assert (row.bytes, row.dtype) == (2 * max(given, got), "bfloat16")


DTYPES = [
    ("Float", "float32", 4),
    ("Half", "float16", 2),
    ("BFloat16", "bfloat16", 2),
    ("Double", "float64", 8),
    ("Byte", "uint8", 1),
    ("Char", "int8", 1),
    ("Short", "int16", 2),
    ("Int", "int32", 4),
    ("Long", "int64", 8),
    ("Bool", "bool", 1),
    ("Float8_e4m3fn", "float8_e4m3fn", 1),
    ("Float8_e5m2", "float8_e5m2", 1),
]


@pytest.mark.parametrize(("spelling", "name", "size"), DTYPES)
def test_element_types(tmp_path: Path, spelling: str, name: str, size: int) -> None:
    row = only(imported(tmp_path, [record(elements=10, dtype=spelling)]))
    assert (row.dtype, row.bytes) == (name, 10 * size)


def test_names_of_2023(tmp_path: Path) -> None:
    old = record(elements=None, **{"In msg size": 5, "Out msg size": 5})  # type: ignore[arg-type]
    assert only(imported(tmp_path, [old])).bytes == 20


@pytest.mark.parametrize("control", ["wait", "barrier", "init"])
def test_control_and_empty_calls_are_counted(tmp_path: Path, control: str) -> None:
    events = [
        record(),
        record(control, ts=200, elements=0, dtype="Byte", ranks="[]", size=1, name=None),
        record("broadcast", ts=300, elements=0),
    ]
    done = imported(tmp_path, events)
    assert done.summary == "imported 1 collective events (skipped 1 control, 1 empty)"
    assert {(c.reason, c.skipped) for c in done.trace.header.coverage if c.skipped} == {
        (f"control: {control}", 1),
        ("empty: no elements", 1),
    }


GROUPS: list[tuple[dict[str, Any], dict[str, Any], tuple[int, ...]]] = [
    ({"ranks": "[0, 1]"}, info(), (0, 1)),
    ({"ranks": [0, 1]}, info(), (0, 1)),
    ({"ranks": "[0,1]", "name": None}, info(groups=[]), (0, 1)),
    ({"ranks": "[]", "size": 4, "name": "2"}, info(world=9, groups=[group("2", [0, 3, 5, 8])]), (0, 3, 5, 8)),
    ({"ranks": None, "size": 4, "name": "2"}, info(world=9, groups=[group("2", "[0, 3, 5, 8]")]) | {}, (0, 3, 5, 8)),
    (
        {"ranks": "[]", "size": 4, "Global rank start": 0, "Global rank stride": 8},
        info(world=64, groups=[]),
        (0, 8, 16, 24),
    ),
    ({"ranks": "[]", "size": 1, "name": "7"}, info(rank=1, groups=[]), (1,)),
    ({"ranks": "[0, 1, ..., 3]", "size": 4}, info(world=4), (0, 1, 2, 3)),
]


@pytest.mark.parametrize(("fields", "job", "ranks"), GROUPS)
def test_groups(tmp_path: Path, fields: dict[str, Any], job: dict[str, Any], ranks: tuple[int, ...]) -> None:
    for entry in job["pg_config"]:
        entry["pg_size"] = len(ranks)
    done = imported(tmp_path, [record(**fields)], distributedInfo=job)
    assert [g.members for g in done.trace.events.groups] == [ranks]


def test_group_id_of_2024_finds_the_group(tmp_path: Path) -> None:
    job = info(world=9, groups=[group("3", [0, 4, 5])])
    event = record(ranks="[]", size=3, name=None, **{"Process Group ID": 3})
    done = imported(tmp_path, [event], distributedInfo=job)
    assert [(g.name, g.members) for g in done.trace.events.groups] == [("3", (0, 4, 5))]


UNKNOWN_GROUPS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"ranks": "[]", "size": 4, "name": "2"}, info(world=4), "an unlisted group is not the world"),
    ({"ranks": None, "size": 2, "name": "9"}, info(), "an unlisted group is not the world"),
    ({"ranks": "[0, 1, 2, ...]", "size": 64, "name": "9"}, info(world=64), "pg_config does not list them"),
    ({"ranks": "[0, 1, .., 28, ..., 63]", "size": 64, "name": "9"}, info(world=64), "pg_config does not list them"),
    ({"ranks": "[0, 1]", "size": 4}, info(), "Group size: is 4 but Process Group Ranks gives 2"),
    ({"ranks": "[0, 2]"}, info(), r"gives \[0, 2\] for process group '0' but distributedInfo.pg_config gives \[0, 1\]"),
    ({"ranks": "[0, 0]"}, info(groups=[]), "ranks are different whole numbers"),
    ({"ranks": "0, 1"}, info(), "a list of ranks looks like"),
    ({"ranks": "[0, x]"}, info(groups=[]), "ranks are different whole numbers"),
    ({"ranks": "[2, 3]", "name": "5"}, info(), "of which it is no member"),
    ({"size": 0}, info(), "a group has one rank or more"),
]


@pytest.mark.parametrize(("fields", "job", "message"), UNKNOWN_GROUPS)
def test_groups_that_are_not_certain_are_refused(
    tmp_path: Path, fields: dict[str, Any], job: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputRefusal, match=message) as refused:
        imported(tmp_path, [record(ts=50, elements=0), record(**fields)], distributedInfo=job)
    assert "traceEvents[1]" in str(refused.value)


def test_skipping_counts_what_it_leaves_out(tmp_path: Path) -> None:
    events = [record(ts=50), record(ts=90, ranks="[]", size=4, name="2"), record(ts=99, dtype="Quint4x2")]
    done = imported(tmp_path, events, KinetoSettings(on_error="skip"))
    assert done.summary == "imported 1 collective events (skipped 0 control, 0 empty, 2 refused)"
    reasons = sorted(c.reason for c in done.trace.header.coverage if c.refused)
    assert [c.split(",")[0] for c in reasons] == ["is 'Quint4x2'", "is '[]' for process group '2' of 4 ranks"]


BAD_FIELDS: list[tuple[dict[str, Any], str]] = [
    ({"elements": -1}, "In msg nelems: is -1"),
    ({"elements": 1.5}, "In msg nelems: is 1.5"),
    ({"elements": "7"}, "In msg nelems: is '7'"),
    ({"elements": None}, "In msg nelems: is missing"),
    ({"elements": 2**62}, "bytes are below 2"),
    ({"dtype": None}, "dtype: is 'None'"),
    ({"dtype": ["Float"]}, "whose size is unknown"),
    ({"dur": -5.0}, "dur: is -5.0"),
    ({"dur": None}, "dur: is missing"),
    ({"ts": 1e300}, "ts: is 1"),
]


@pytest.mark.parametrize(("fields", "message"), BAD_FIELDS)
def test_bad_fields_are_refused(tmp_path: Path, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InputRefusal, match=message):
        imported(tmp_path, [record(**fields)])


NESTED = [
    ("allreduce", {}, {}, "all_reduce"),
    ("allreduce", {"Seq": 3}, {"Seq": 3}, "all_reduce"),
    ("allgather", {"out": 2048}, {"collective": "broadcast"}, "all_gather"),
    ("allreduce", {}, {"collective": "wait", "elements": 0, "size": 1, "ranks": "[]"}, "all_reduce"),
]


@pytest.mark.parametrize(("name", "outside", "inside", "op"), NESTED)
def test_nested_records_are_one_call(
    tmp_path: Path, name: str, outside: dict[str, Any], inside: dict[str, Any], op: str
) -> None:
    events = [
        span("c10d::op_", "cpu_op", 90, 40),
        record(name, ts=100, dur=20, **outside),
        span("nccl:all_reduce", "user_annotation", 104, 8),
        record(**{"ts": 105, "dur": 5, **inside}),
    ]
    done = imported(tmp_path, events)
    assert [s.op for s in done.trace.events.signatures] == [op]
    assert [(c.reason, c.skipped) for c in done.trace.header.coverage if c.skipped] == [
        ("nested: inside another call", 1)
    ]


CONTRADICTING = [
    [record(ts=105, dur=5, elements=7)],
    [record(ts=105, dur=5, Seq=4)],
    [record(ts=105, dur=1), record(ts=107, dur=1)],
]


@pytest.mark.parametrize("inside", CONTRADICTING)
def test_calls_inside_a_call_that_are_no_part_of_it_are_refused(tmp_path: Path, inside: list[dict[str, Any]]) -> None:
    events = [record(ts=100, dur=20), *inside]
    with pytest.raises(InputRefusal, match="of which it is no part"):
        imported(tmp_path, events)
    done = imported(tmp_path, events, KinetoSettings(on_error="skip"))
    assert done.refused == len(inside)


def test_filter_by_group_name_or_description(tmp_path: Path) -> None:
    job = info(world=4, groups=[group("0", [0, 1, 2, 3], "default_pg"), group("1", [0, 2], "mesh_tp")])
    events = [record(ranks="[0, 1, 2, 3]", size=4), record(ts=200, ranks="[0, 2]", name="1", elements=5)]
    for wanted in ("1", "mesh_tp"):
        done = imported(tmp_path, events, KinetoSettings(process_group=wanted), distributedInfo=job)
        assert only(done).bytes == 20
        assert [c.reason for c in done.trace.header.coverage if c.skipped] == [
            f"other group: not on process group {wanted}"
        ]


def test_ids_beyond_int63_link_kernels(tmp_path: Path) -> None:
    event = record(**{"External id": 10_159_970_886_764_003_409, "Comms Id": 10_159_970_886_764_003_409})
    launched = kernel(
        "ncclDevKernel_AllReduce_Max_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        500,
        30,
        **{"External id": 10_159_970_886_764_003_409, "correlation": 3},
    )
    done = imported(tmp_path, [event, launched])
    assert only(done).reduction_op == "max"
    assert done.trace.events.observed_exposed_ns.tolist() == [30_000]


def test_rank_of_a_message_is_its_peer(tmp_path: Path) -> None:
    job = info(rank=4, world=8, groups=[group("1", [2, 4, 6])])
    events = [
        record("send", ranks="[2, 4, 6]", size=3, name="1", Rank=2),
        record("recv", ts=200, ranks="[2, 4, 6]", size=3, name="1", Rank=0, **{"Src Rank": 2}),
    ]
    done = imported(tmp_path, events, distributedInfo=job)
    assert [(s.op, s.sender_rank, s.receiver_rank) for s in done.trace.events.signatures] == [
        ("send", 4, 6),
        ("recv", 2, 4),
    ]
    assert [g.members for g in done.trace.events.groups] == [(4, 6), (2, 4)]


@pytest.mark.parametrize(("rank", "root"), [(0, 2), (1, None), (2, 6), (3, None), (None, None)])
def test_the_rank_of_a_broadcast_is_its_root_unless_it_may_be_the_callers(
    tmp_path: Path, rank: int | None, root: int | None
) -> None:
    """The caller is rank 4, at place 1 of its group: a 1 may be its own place, and a 3 is no place at all."""
    job = info(rank=4, world=8, groups=[group("1", [2, 4, 6])])
    stated = {} if rank is None else {"Rank": rank}
    done = imported(tmp_path, [record("broadcast", ranks="[2, 4, 6]", size=3, name="1", **stated)], distributedInfo=job)
    assert [s.root_rank for s in done.trace.events.signatures] == [root]


@pytest.mark.parametrize("fields", [{}, {"Rank": 9}, {"Dst Rank": 77}, {"Rank": 0}])
def test_messages_without_a_possible_peer_are_refused(tmp_path: Path, fields: dict[str, Any]) -> None:
    with pytest.raises(InputRefusal, match=r"peer|Rank"):
        imported(tmp_path, [record("send", **fields)])


def test_a_process_group_that_the_job_lacks_is_blamed(tmp_path: Path) -> None:
    with pytest.raises(InputRefusal, match="1 other group; ask for a process group that the job has"):
        imported(tmp_path, [record()], KinetoSettings(process_group="nope"))
