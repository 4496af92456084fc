"""Calls and kernels are held against each other; where they do not close, no time of the device is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commcanary.sources.nsys.importer import import_nsys

from .exports import GEMM, MESSAGES, REDUCE, WORLD, ExportWriter, changed, two_ranks

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.artifacts.trace import Trace

KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"


def withheld(trace: Trace) -> bool:
    events = trace.events
    columns = (events.compute_overlap_ns, events.observed_exposed_ns, events.compute_before_ns)
    return all((column == -1).all() for column in columns)


OPEN = [
    (
        "a kernel that nothing launched",
        [f"UPDATE {KERNEL} SET correlationId = NULL WHERE rowid = 2"],
        "9 calls in 9 launches, 9 NCCL kernels: "
        "they do not close (1 kernels without a call, 1 launches without a kernel)",
    ),
    (
        "one kernel too many",
        [
            f"INSERT INTO {KERNEL} SELECT start + 500, end + 500, deviceId, contextId, streamId, 99, globalPid, "
            f"demangledName, shortName, NULL FROM {KERNEL} WHERE rowid = 2"
        ],
        "9 calls in 9 launches, 10 NCCL kernels: they do not close (1 kernels without a call)",
    ),
    (
        "a kernel of a CUDA graph",
        [f"UPDATE {KERNEL} SET correlationId = 5, graphNodeId = 7 WHERE rowid = 2"],
        "9 calls in 9 launches, 9 NCCL kernels: "
        "they do not close (1 kernels of CUDA graphs, 1 launches without a kernel)",
    ),
    (
        "no kernel of rank 0",
        [f"DELETE FROM {KERNEL} WHERE deviceId = 0"],
        "9 calls in 9 launches, 0 NCCL kernels: they do not close (9 launches without a kernel)",
    ),
    (
        "no kernels at all",
        [f"DROP TABLE {KERNEL}"],
        "9 calls in 9 launches, 0 NCCL kernels: they do not close (9 launches without a kernel)",
    ),
    (
        "no runtime calls",
        ["DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME"],
        "9 calls in 9 launches, 9 NCCL kernels: "
        "they do not close (9 kernels without a call, 9 launches without a kernel)",
    ),
]


@pytest.mark.parametrize(("statements", "told"), [case[1:] for case in OPEN], ids=[case[0] for case in OPEN])
def test_counts_that_do_not_close(tmp_path: Path, statements: list[str], told: str) -> None:
    done = import_nsys([changed(two_ranks(tmp_path / "job.sqlite"), *statements)])
    assert done.counts[0] == f"rank 0: {told}"
    assert withheld(done.trace)
    assert done.trace.header.unknown["compute_overlap_us"] == f"rank 0: {told}"
    assert done.trace.events.offsets_ns.row(0) == [0, 10_000]  # on the host's clock: the ranges
    assert done.trace.header.notes["arrival"] == "start of the call's range on the host"


def test_whole_graphs_hide_what_computed(tmp_path: Path) -> None:
    path = changed(
        two_ranks(tmp_path / "job.sqlite"),
        "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER)",
        "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1, 2, 0)",
    )
    done = import_nsys([path])
    assert withheld(done.trace)
    assert "1 CUDA graphs were traced as a whole" in done.trace.header.unknown["compute_overlap_us"]
    assert done.trace.header.notes["arrival"] == "start of the launch's first NCCL kernel"


def test_kernels_of_other_libraries_are_told_apart(tmp_path: Path) -> None:
    path = two_ranks(tmp_path / "job.sqlite")
    changed(path, f"UPDATE StringIds SET value = 'multimem_all_reduce_kernel' WHERE value = '{GEMM}'")
    done = import_nsys([path])
    rows = {(c.rank, c.rule): (c.seen, c.unknown) for c in done.trace.header.coverage if c.unknown}
    assert rows == {(rank, "communication kernel: symmetric_memory"): (6, 6) for rank in (0, 1)}
    assert done.counts[0].endswith("they close")  # NCCL's own counts do


def messages(path: Path, peers: tuple[int, ...]) -> Path:
    """Rank 0 and 1 of four: a group of one message each way, launched as one kernel."""
    out = ExportWriter(path)
    for rank, pid in enumerate((50, 51, 52, 53)):
        out.nccl(pid, "ncclCommInitRank", 0, 9, comm=WORLD, ranks=4, rank=rank, device=rank)
        out.nccl(pid, "ncclGroupStart", 100, 101)
        for number, peer in enumerate(peers):
            other = (rank + peer) % 4
            out.nccl(pid, "ncclSend", 102 + number, 102.5 + number, comm=WORLD, bytes=100, peer=other)
            out.nccl(pid, "ncclRecv", 110 + number, 110.5 + number, comm=WORLD, bytes=100, peer=(rank - peer) % 4)
        out.nccl(pid, "ncclGroupEnd", 120, 130)
        out.kernel(pid, MESSAGES, 140, 150, device=rank, launched=125)
        out.nccl(pid, "ncclAllReduce", 200, 210, comm=WORLD, bytes=8, redop=2)
        out.kernel(pid, REDUCE, 220, 230, device=rank, launched=205)
    return out.done()


def test_messages_of_one_group_share_a_kernel(tmp_path: Path) -> None:
    """A ring: every rank sends to the next. Four messages, one kernel a rank that serves a send and a receive."""
    done = import_nsys([messages(tmp_path / "ring.sqlite", (1,))])
    events = done.trace.events
    rows = [events.signatures[i] for i in events.signature]
    assert sorted((r.sender_rank, r.receiver_rank) for r in rows if r.op == "point_to_point") == [
        (0, 1),
        (1, 2),
        (2, 3),
        (3, 0),
    ]
    assert [r.reduction_op for r in rows if r.op == "all_reduce"] == ["max"]
    assert done.counts[0] == "rank 0: 3 calls in 2 launches, 2 NCCL kernels: they close"
    assert (events.observed_exposed_ns == -1).all()  # the format wants it for all events or none
    assert "serves several calls" in done.trace.header.unknown["compute_overlap_us"]


def test_messages_to_every_rank_are_an_all_to_all(tmp_path: Path) -> None:
    done = import_nsys([messages(tmp_path / "whole.sqlite", (0, 1, 2, 3))])
    rows = [done.trace.events.signatures[i] for i in done.trace.events.signature]
    assert [(r.op, r.bytes) for r in rows] == [("all_to_all", 400), ("all_reduce", 8)]
    assert (done.trace.events.observed_exposed_ns == 10_000).all()


def test_a_rank_does_not_send_to_itself(tmp_path: Path) -> None:
    done = import_nsys([messages(tmp_path / "self.sqlite", (0, 1))])
    assert done.summary == "imported 5 collective events (skipped 0 control, 8 empty)"
    assert {c.reason for c in done.trace.header.coverage if c.skipped} == {"empty: a rank's message to itself"}
