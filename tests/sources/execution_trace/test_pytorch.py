"""PyTorch's execution traces: records, operators around and without them, ranks that nobody states."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commcanary.errors import InputRefusal
from commcanary.sources.execution_trace.importer import import_execution_traces
from commcanary.sources.execution_trace.settings import ExecutionTraceSettings

from .traces import record, torch_node, torch_trace

TENSOR = [5, 6, 0, 16, 4, "cpu"]
GROUPS = torch_node(
    2,
    "## process_group:init ##",
    [json.dumps([{"pg_name": "0", "pg_desc": "default_pg", "group_size": 2, "ranks": []}])],
)


def operator(
    number: int, name: str, values: list[Any], shapes: list[Any], types: list[str], parent: int = 1
) -> dict[str, Any]:
    node = torch_node(number, name, values, parent)
    node["inputs"] = {"values": values, "shapes": shapes, "types": types}
    return node


def all_reduce(number: int, elements: int = 16) -> dict[str, Any]:
    return operator(
        number,
        "c10d::allreduce_",
        [[TENSOR], "<Object>"],
        [[[elements]], []],
        ["GenericList[Tensor(c10::BFloat16)]", "Object"],
    )


def test_a_record_inside_an_operator_is_one_call(tmp_path: Path) -> None:
    nodes = [
        all_reduce(3),
        record(4, parent=3),
        torch_node(5, "nccl:all_reduce", [TENSOR], 4),
        record(6, "wait", elements=0),
    ]
    done = import_execution_traces([torch_trace(tmp_path / "et.json", nodes)])
    assert done.summary == "imported 1 collective events (skipped 3 control, 0 empty)"
    assert {(c.rule, c.seen, c.taken) for c in done.trace.header.coverage} == {
        ("record_param_comms", 1, 1),
        ("record_param_comms", 1, 0),
        ("c10d operator around a record", 1, 0),
        ("communication annotation", 1, 0),
    }
    signature = done.trace.events.signatures[0]
    assert (signature.op, signature.bytes, signature.dtype, signature.in_elements) == ("all_reduce", 64, "float32", 16)
    assert done.trace.header.system["profiled_ranks"] == [0]


def test_operators_without_records(tmp_path: Path) -> None:
    nodes = [
        GROUPS,
        all_reduce(3),
        torch_node(4, "gloo:all_reduce", [TENSOR], 3),
        operator(5, "c10d::_allgather_base_", [TENSOR, TENSOR], [[32], [16]], ["Tensor(float)", "Tensor(float)"]),
        operator(
            6,
            "c10d::broadcast_",
            [[TENSOR], "<Object>", 1],
            [[[16]], [], []],
            ["GenericList[Tensor(float)]", "Object", "Int"],
        ),
        operator(7, "c10d::barrier", [TENSOR], [[1]], ["Tensor(unsigned char)"]),
        operator(
            8,
            "c10d::send",
            [[TENSOR], "<Object>", 1, 0],
            [[[16]], [], [], []],
            ["GenericList[Tensor(float)]", "", "", ""],
        ),
    ]
    path = torch_trace(tmp_path / "et.json", nodes)
    with pytest.raises(InputRefusal, match="rank: is said by no record"):
        import_execution_traces([path])
    trace = import_execution_traces([path], ExecutionTraceSettings(ranks=(0,))).trace
    found = [trace.events.signatures[i] for i in trace.events.signature]
    assert [(s.op, s.bytes, s.dtype) for s in found] == [
        ("all_reduce", 32, "bfloat16"),
        ("all_gather", 128, "float32"),
        ("broadcast", 64, "float32"),
        ("send", 64, "float32"),
    ]
    assert found[2].root_rank == 1
    assert (found[3].sender_rank, found[3].receiver_rank) == (0, 1)


def test_ranks_of_two_files_follow_from_their_records(tmp_path: Path) -> None:
    paths = [
        torch_trace(tmp_path / f"{rank}.json", [record(3, rank=rank), record(4, "_allgather_base", rank, 8, 16)])
        for rank in (1, 0)
    ]
    trace = import_execution_traces(paths).trace
    assert trace.header.system["profiled_ranks"] == [1, 0]
    assert [g.members for g in trace.events.groups] == [(0, 1)]
    assert [trace.events.signatures[i].op for i in trace.events.signature] == ["all_reduce", "all_gather"]


def test_the_root_of_a_broadcast_is_not_the_caller(tmp_path: Path) -> None:
    """``Rank`` of a rooted collective is the root's: it must not be taken for the file's."""
    path = torch_trace(tmp_path / "et.json", [record(3, "broadcast", rank=0), record(4, rank=1)])
    trace = import_execution_traces([path]).trace
    assert trace.header.system["profiled_ranks"] == [1]
    assert trace.events.signatures[0].root_rank == 0


def test_contradicting_ranks_are_refused(tmp_path: Path) -> None:
    path = torch_trace(tmp_path / "et.json", [record(3, rank=0), record(4, rank=1)])
    with pytest.raises(InputRefusal, match=r"rank: is 0 in nodes\[0\] and 1 in nodes\[1\]; state it with --rank"):
        import_execution_traces([path])


def test_the_oldest_schema_has_its_parts_beside_each_other(tmp_path: Path) -> None:
    """1.0.1 says no sizes; its waits are known for what they are."""
    flat = {
        "id": 3,
        "name": "record_param_comms",
        "parent": 1,
        "inputs": [[TENSOR], 1, 0, 0, "allreduce", [], []],
        "input_shapes": [],
        "input_types": [],
    }
    path = torch_trace(tmp_path / "et.json", [flat], schema="1.0.1")
    with pytest.raises(InputRefusal, match=r"schema 1\.0\.x do not say the sizes"):
        import_execution_traces([path], ExecutionTraceSettings(ranks=(0,)))


def test_ranks_may_disagree_about_the_order_between_groups(tmp_path: Path) -> None:
    """Nothing orders the calls of two groups against each other: the first listed rank's order stands, and is told."""
    one = {"pg_name": "a", "pg_desc": "a"}
    other = {"pg_name": "b", "pg_desc": "b"}
    first = [
        record(3, rank=0, elements=1, **one),
        record(4, rank=0, elements=2, **other),
        record(5, rank=0, elements=3, **one),
    ]
    second = [
        record(3, rank=1, elements=2, **other),
        record(4, rank=1, elements=1, **one),
        record(5, rank=1, elements=3, **one),
    ]
    paths = [torch_trace(tmp_path / "0.json", first), torch_trace(tmp_path / "1.json", second)]
    trace = import_execution_traces(paths).trace
    assert [trace.events.signatures[i].in_elements for i in trace.events.signature] == [1, 2, 3]
    assert trace.header.notes["order_differs"].startswith("1 events")


BROKEN = [
    ({"id": "x", "name": "record_param_comms"}, r"nodes\[0\]\.id"),
    (record(3, dtype="Posit8"), r"dtype: is 'Posit8'"),
    (record(3, pg_size=3, global_rank_stride=0, pg_name="odd"), "an unlisted group is not the world"),
    (torch_node(3, "record_param_comms", [1, 2]), r"inputs\.values"),
    (torch_node(3, "## process_group:init ##", ["[{"]), "no list of process groups"),
]


@pytest.mark.parametrize(("node", "told"), BROKEN)
def test_refused(tmp_path: Path, node: dict[str, Any], told: str) -> None:
    path = torch_trace(tmp_path / "et.json", [node])
    with pytest.raises(InputRefusal, match=told) as refused:
        import_execution_traces([path], ExecutionTraceSettings(ranks=(0,)))
    assert "et.json" in str(refused.value)
