"""Debug logs of several ranks: order, sizes, communicators and their pointers, divergence, times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commcanary.errors import InputRefusal
from commcanary.sources.nccl_log.importer import import_nccl_log

from ..imported import rows, signatures
from .logs import WORLD, call, created, job, said, written

if TYPE_CHECKING:
    from pathlib import Path


SIZES = [
    ("AllReduce", "all_reduce", 400, 100, 100),
    ("AllGather", "all_gather", 1600, 100, 400),
    ("ReduceScatter", "reduce_scatter", 1600, 400, 100),
    ("Broadcast", "broadcast", 400, 100, 100),
    ("Reduce", "reduce", 400, 100, 100),
    ("AlltoAll", "all_to_all", 1600, 400, 400),
    ("Gather", "gather", 1600, None, None),
    ("Scatter", "scatter", 1600, None, None),
]


"""Of 100 floats on 4 ranks: bytes of the larger side, elements in and out; those of gathers differ by rank."""


@pytest.mark.parametrize(("name", "op", "size", "into", "out"), SIZES)
def test_sizes(tmp_path: Path, name: str, op: str, size: int, into: int | None, out: int | None) -> None:
    (found,) = signatures(import_nccl_log(job(tmp_path, *[[call(name, ranks=4)]] * 4)).trace)
    assert (found.op, found.bytes, found.in_elements, found.out_elements) == (op, size, into, out)
    assert found.dtype == "float32"


@pytest.mark.parametrize(
    ("number", "name", "size"),
    [
        (0, "int8", 1),
        (1, "uint8", 1),
        (2, "int32", 4),
        (3, "uint32", 4),
        (4, "int64", 8),
        (5, "uint64", 8),
        (6, "float16", 2),
        (7, "float32", 4),
        (8, "float64", 8),
        (9, "bfloat16", 2),
        (10, "float8_e4m3fn", 1),
        (11, "float8_e5m2", 1),
    ],
)
def test_element_types(tmp_path: Path, number: int, name: str, size: int) -> None:
    (found,) = signatures(import_nccl_log(job(tmp_path, *[[call(datatype=number)]] * 2)).trace)
    assert (found.dtype, found.bytes) == (name, 100 * size)


def test_operators_and_roots(tmp_path: Path) -> None:
    """Fields that an operation does not use are written all the same: 0 there is neither a root nor a sum."""
    texts = [call(operator=n) for n in (0, 1, 2, 3, 4)]
    texts += [call("AllGather"), call("Broadcast", root=1), call("Reduce", operator=2, root=1)]
    found = signatures(import_nccl_log(job(tmp_path, texts, texts)).trace)
    assert [s.reduction_op for s in found] == ["sum", "prod", "max", "min", "avg", None, None, "max"]
    assert [s.root_rank for s in found] == [None] * 6 + [1, 1]


def test_an_operator_of_the_job_is_unknown_and_named(tmp_path: Path) -> None:
    texts = [call(operator=5), call(operator=5), call("AllGather", operator=5)]
    done = import_nccl_log(job(tmp_path, texts, texts))
    assert [s.reduction_op for s in signatures(done.trace)] == [None] * 3
    assert done.counts == (
        "rank 0: 2 calls reduce with an operator of the job's own (op 5)",
        "rank 1: 2 calls reduce with an operator of the job's own (op 5)",
    )
    assert "reduction_op" in done.trace.header.unknown


def test_op_count_orders_nothing(tmp_path: Path) -> None:
    """On one node it is 0 for every call since NCCL 2.27; before, it is hexadecimal."""
    one = [call(count=n, op_count="0") for n in (3, 1, 2)]
    other = [call(count=n, op_count=c) for n, c in ((3, "ff"), (1, "a"), (2, "100"))]
    assert rows(import_nccl_log(job(tmp_path, one, other)).trace) == [
        ("all_reduce", 12),
        ("all_reduce", 4),
        ("all_reduce", 8),
    ]


def test_the_first_divergence_is_named(tmp_path: Path) -> None:
    """Rank 1 has one broadcast more: lines are numbered from 1, and two lines stand before the first call."""
    one = [call(count=n) for n in range(1, 9)]
    other = [*one[:5], call("Broadcast", count=77), *one[5:]]
    told = (
        rf"process group '{WORLD}' call 5: rank 0 calls all_reduce of 24 bytes \(line\[8\]\) "
        rf"but rank 1 calls broadcast of 308 bytes \(line\[8\]\) \(8 and 9 calls\)"
    )
    with pytest.raises(InputRefusal, match=told) as refusal:
        import_nccl_log(job(tmp_path, one, other))
    assert "log.node-0.4001" in str(refusal.value)
    with pytest.raises(InputRefusal, match=r"call 7: rank 0 calls .* but rank 1 has no such call .*8 and 7 calls"):
        import_nccl_log(job(tmp_path, one, one[:7]))


def test_messages(tmp_path: Path) -> None:
    one = [call("Send", 10, root=1), call("Recv", 20, root=1), call("Send", 1, root=0), call(count=0)]
    other = [call("Recv", 10, root=0), call("Send", 20, root=0), call(count=0)]
    done = import_nccl_log(job(tmp_path, one, other))
    found = [(s.op, s.bytes, s.sender_rank, s.receiver_rank) for s in signatures(done.trace)]
    assert sorted(found) == [("point_to_point", 40, 0, 1), ("point_to_point", 80, 1, 0)]
    assert done.summary == "imported 2 collective events (skipped 0 control, 3 empty)"


def test_lines_of_launchers_and_of_others_change_nothing(tmp_path: Path) -> None:
    texts = [call(), call("AllGather")]
    plain = import_nccl_log(job(tmp_path, texts, texts)).trace
    noisy = []
    for rank in (0, 1):
        lines = [
            "NCCL version 2.30.7+cuda13.0",
            said("ncclCommInitRank comm registered NVLS sendbuff 0x1, recvbuff 0x2, sendbuff size 3", rank),
            said("Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM", rank),
            f"(Worker pid=9, ip=10.0.0.1) {said(created(rank), rank)}",
            "",
            *(f"[rank{rank}]: {said(text, rank)}\r" for text in texts),
            "node-0:4000:4000 [0] misc/socket.cc:58 NCCL WARN socketProgress: Connection closed",
        ]
        noisy.append(written(tmp_path / f"noisy{rank}.log", lines))
    trace = import_nccl_log(noisy).trace
    assert rows(trace) == rows(plain)
    assert trace.header.system["nccl_version"] == "2.30.7+cuda13.0"
