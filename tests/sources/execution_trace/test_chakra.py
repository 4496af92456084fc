"""Chakra traces: what counts, what wraps, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from commcanary.errors import InputRefusal, UsageError
from commcanary.sources.execution_trace.importer import import_execution_traces
from commcanary.sources.execution_trace.settings import ExecutionTraceSettings

from .traces import BOOL, EXPECTED, ROOT, attribute, chakra, collective, field, job, node, varint

if TYPE_CHECKING:
    from commcanary.artifacts.trace import Trace

ALONE = ExecutionTraceSettings(world_size=2, assume_default_group=True)


def rows(trace: Trace) -> list[tuple[str, int]]:
    return [(trace.events.signatures[i].op, trace.events.signatures[i].bytes) for i in trace.events.signature]


def written(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def test_committed_samples_are_what_their_script_writes() -> None:
    for rank in (0, 1):
        path = ROOT / "tests" / "sources" / "execution_trace" / "samples" / f"job.{rank}.et"
        assert path.read_bytes() == job(rank)


def test_two_ranks(tmp_path: Path) -> None:
    done = import_execution_traces([written(tmp_path, f"job.{rank}.et", job(rank)) for rank in (0, 1)])
    assert rows(done.trace) == EXPECTED
    assert done.summary == "imported 6 collective events (skipped 4 control, 2 empty)"
    message = done.trace.events.signatures[done.trace.events.signature[-1]]
    assert (message.sender_rank, message.receiver_rank, message.tag) == (0, 1, "9")
    assert (done.trace.start_ns == -1).all()
    assert (done.trace.events.gap_ns == 0).all()
    assert {"start_us", "gap_us", "rank_arrival_us", "compute_overlap_us"} <= done.trace.header.unknown.keys()


def test_one_rank_needs_a_declared_world(tmp_path: Path) -> None:
    path = written(tmp_path, "job.0.et", job(0))
    with pytest.raises(InputRefusal, match=r"pg_name: is missing.*--assume-default-group with --world-size"):
        import_execution_traces([path])
    trace = import_execution_traces([path], ALONE).trace
    assert rows(trace)[:5] == EXPECTED[:5]
    assert trace.header.assumptions == {"default_group": 1.0}


def test_wrappers_with_sizes_are_not_counted_twice(tmp_path: Path) -> None:
    data = chakra(
        collective(1, 0, 64, cpu=True), collective(2, 0, 64), collective(3, 0, 8, cpu=True), collective(4, 0, 8)
    )
    trace = import_execution_traces([written(tmp_path, "job.0.et", data)], ALONE).trace
    assert rows(trace) == [("all_reduce", 64), ("all_reduce", 8)]
    on_host = chakra(collective(1, 0, 64, cpu=True), collective(3, 0, 8, cpu=True))  # a CPU job has no kernels
    assert len(import_execution_traces([written(tmp_path, "cpu.0.et", on_host)], ALONE).trace) == 2


def test_named_groups_come_from_a_list(tmp_path: Path) -> None:
    path = written(tmp_path, "job.4.et", chakra(collective(1, 2, 10, group="7")))
    with pytest.raises(InputRefusal, match=r"node 1\.pg_name: is '7', whose ranks no file lists; .*--groups"):
        import_execution_traces([path])
    trace = import_execution_traces([path], ExecutionTraceSettings(groups={"7": (0, 4, 8)})).trace
    assert [g.members for g in trace.events.groups] == [(0, 4, 8)]
    assert rows(trace) == [("all_gather", 30)]


REFUSED = [
    ("truncated", job(0)[:-3], "starts a message of"),
    ("no protobuf", b"\x05hello world", "wire type"),
    ("text is no UTF-8", chakra(field(2, b"\xff\xfe") + field(3, 7)), "UTF-8"),
    ("a number used twice", chakra(collective(1, 0, 8), collective(1, 0, 8)), "hold number 1 twice"),
    ("unknown operation", chakra(collective(1, 23, 8)), r"comm_type: is 23"),
    ("negative size", chakra(collective(1, 0, -8)), "comm_size: is -8"),
    ("no size", chakra(node(1, "ncclKernel", 7, attribute("is_cpu_op", BOOL, False))), "comm_size: is missing"),
    ("nothing that communicates", chakra(node(1, "aten::mm", 4)), "no communication node"),
    ("wrappers alone", chakra(node(1, "c10d::x", 7, attribute("is_cpu_op", BOOL, True))), "1 control"),
    ("a length beyond 64 bits", b"\xff" * 11, "holds no number"),
    ("metadata alone", varint(2) + field(1, b""), "holds no node"),
]


@pytest.mark.parametrize(("data", "told"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_refused(tmp_path: Path, data: bytes, told: str) -> None:
    with pytest.raises(InputRefusal, match=told) as refused:
        import_execution_traces([written(tmp_path, "job.0.et", data)], ALONE)
    assert "job.0.et" in str(refused.value)


def test_a_name_without_rank(tmp_path: Path) -> None:
    path = written(tmp_path, "trace.et", job(0))
    with pytest.raises(InputRefusal, match="does not state the rank"):
        import_execution_traces([path], ALONE)
    with pytest.raises(UsageError, match="--rank is given 2 times for 1 traces"):
        import_execution_traces([path], ExecutionTraceSettings(ranks=(0, 1)))


def test_ranks_that_diverge_are_refused_at_the_first_call(tmp_path: Path) -> None:
    other = chakra(collective(3, 0, 4096), collective(5, 2, 101))
    paths = [written(tmp_path, "a.0.et", job(0)), written(tmp_path, "a.1.et", other)]
    with pytest.raises(
        InputRefusal, match=r"call 1: rank 0 calls all_gather of 200 bytes .*rank 1 calls all_gather of 202"
    ):
        import_execution_traces(paths)
