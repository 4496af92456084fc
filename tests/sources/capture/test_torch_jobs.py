"""Real gloo jobs of unmodified scripts, started by torchrun."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from commcanary.artifacts.files import read_artifact
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.artifacts.trace_table import from_stored
from commcanary.cli.main import run
from commcanary.errors import EXIT_CHILD_FAILED

if TYPE_CHECKING:
    from commcanary.artifacts.events import Signature
    from commcanary.artifacts.trace import Trace

JOBS = Path(__file__).with_name("jobs")


@pytest.fixture(scope="module")
def python() -> str:
    """An interpreter that has PyTorch with gloo."""
    chosen = os.environ.get("COMMCANARY_TORCH_PYTHON", sys.executable)
    probe = "import torch.distributed as d; raise SystemExit(not (d.is_available() and d.is_gloo_available()))"
    if subprocess.run([chosen, "-c", probe], capture_output=True, check=False).returncode:
        pytest.skip("no PyTorch here: install commcanary[torch], or name its interpreter in COMMCANARY_TORCH_PYTHON")
    return chosen


@pytest.fixture(autouse=True)
def _loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def torchrun(python: str, ranks: int, job: str, *arguments: str) -> list[str]:
    # standalone: the launcher binds its port itself, so that no other test can take it in between
    launcher = [python, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
    return [*launcher, str(JOBS / job), *arguments]


def uncaptured(command: list[str]) -> str:
    """What the job prints when nothing records it."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def captured(output: Path, command: list[str]) -> Trace:
    assert run(["capture", "-o", str(output), "--auto", "--", *command]) == 0
    assert [path.name for path in output.parent.iterdir()] == [output.name], "the shards are still there"
    return from_stored(read_artifact(output, TRACE))


def signatures(trace: Trace) -> list[Signature]:
    return [trace.events.signatures[number] for number in trace.events.signature]


def counted(trace: Trace) -> list[tuple[str, int, str, int]]:
    kinds = signatures(trace)
    return [(s.op, s.bytes, trace.events.group_of(s).name, trace.events.group_of(s).size) for s in kinds]


@pytest.fixture(scope="module", params=[2, 4])
def ranks(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def trace(python: str, ranks: int, tmp_path: Path) -> Trace:
    return captured(tmp_path / "trace.parquet", torchrun(python, ranks, "every_call.py"))


def test_every_call_of_every_rank(trace: Trace, ranks: int) -> None:
    assert counted(trace) == [
        *[("all_reduce", 4096, "0", ranks)] * 3,
        ("broadcast", 4096, "0", ranks),
        ("reduce", 4096, "0", ranks),
        *[("all_gather", 32 * ranks, "0", ranks)] * 2,
        ("reduce_scatter", 16 * ranks, "0", ranks),
        ("gather", 32 * ranks, "0", ranks),
        ("scatter", 32 * ranks, "0", ranks),
        ("all_to_all", 32 * ranks, "0", ranks),
        *[("point_to_point", 4096, "0", 2)] * 2,
        ("all_reduce", 1024, "1", 2),
    ]
    kinds = signatures(trace)
    assert [s.reduction_op for s in kinds[:3]] == ["sum", "max", "sum"]
    assert [s.root_rank for s in kinds if s.op in ("broadcast", "reduce", "gather", "scatter")] == [1, 0, 0, 0]
    assert [(s.sender_rank, s.receiver_rank, s.tag) for s in kinds if s.op == "point_to_point"] == [
        (0, 1, "3"),
        (0, 1, None),
    ]
    assert {s.dtype for s in kinds} == {"float32", "int64"}
    gathered = next(s for s in kinds if s.op == "all_gather")
    assert (gathered.in_elements, gathered.out_elements) == (8, 8 * ranks)
    events = trace.events
    assert events.offsets_ns.known.all()
    assert trace.header.system["clock"]["method"] == "one clock"
    assert np.array_equal(np.diff(trace.start_ns), events.gap_ns[1:])
    slept, overlapped = 20_000_000, 30_000_000
    assert events.compute_before_ns[1] >= slept
    assert events.gap_ns[1] >= slept
    assert events.compute_overlap_ns[2] >= overlapped
    assert events.compute_overlap_ns[[0, 1]].tolist() == [0, 0]
    assert (events.observed_exposed_ns >= 0).all()
    coverage = {(r.rank, r.reason): r for r in trace.header.coverage}
    assert all(coverage[rank, "control: barrier"].skipped == 1 for rank in range(ranks))


def test_job_that_ends_by_sys_exit_is_complete(python: str, tmp_path: Path) -> None:
    assert len(captured(tmp_path / "trace.json", torchrun(python, 2, "every_call.py", "exit"))) == 14


def test_failing_rank_fails_the_capture_and_its_shards_are_kept(
    python: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    kept, output = tmp_path / "kept", tmp_path / "out" / "trace.json"
    output.parent.mkdir()
    command = torchrun(python, 2, "every_call.py", "raise")
    code = run(["capture", "-o", str(output), "--auto", "--preserve-on-failure", str(kept), "--", *command])
    assert code == EXIT_CHILD_FAILED
    assert list(output.parent.iterdir()) == []
    lines = [line for line in capfd.readouterr().err.splitlines() if line.startswith("commcanary: ")]
    assert len(lines) == 1
    assert "ended with exit code 1" in lines[0]
    shards = [path.name for path in kept.glob("rank1-*.json")]
    assert len(shards) == 1, "an unhandled exception does not keep a rank from writing its shard"
    assert shards[0] in (kept / "SHA256SUMS").read_text()


def test_gradients_of_ddp_are_seen_and_unchanged(
    python: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    plain = uncaptured(torchrun(python, 3, "ddp.py"))
    trace = captured(tmp_path / "trace.json", torchrun(python, 3, "ddp.py"))
    (expected,) = re.findall(r"gradients (\w+)", plain)
    assert re.findall(r"gradients (\w+)", capfd.readouterr().out) == [expected]
    kinds = signatures(trace)
    assert {(s.op, s.phase) for s in kinds} == {("all_reduce", "backward")}
    assert sum(s.bytes for s in kinds) == 3 * 4 * (64 * 64 + 64) * 4  # steps, layers, parameters, bytes
    assert (trace.events.compute_overlap_ns >= 0).all()
    assert (trace.events.observed_exposed_ns >= 0).all()
    unseen = [row for row in trace.header.coverage if row.unknown]
    assert {row.reason for row in unseen} == {"broadcasts of parameters or buffers run in C++"}


def same_with_and_without(
    python: str, output: Path, capfd: pytest.CaptureFixture[str], job: str, *arguments: str
) -> tuple[Trace, str]:
    """The trace of a job of two ranks that prints the same digest with the recorder as without; and that line."""
    plain = uncaptured(torchrun(python, 2, job, *arguments))
    trace = captured(output, torchrun(python, 2, job, *arguments))
    (expected,) = re.findall(r"digest (.+)", plain)
    assert re.findall(r"digest (.+)", capfd.readouterr().out) == [expected]
    return trace, expected


def test_functional_collectives(python: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    trace, _ = same_with_and_without(python, tmp_path / "trace.json", capfd, "functional.py")
    kinds, events = signatures(trace), trace.events
    both = [at for at, s in enumerate(kinds) if events.group_of(s).size == 2]
    assert [(kinds[at].op, kinds[at].bytes, kinds[at].reduction_op) for at in both] == [
        ("all_reduce", 4096, "sum"),
        ("all_reduce", 4096, "max"),
        ("all_gather", 2 * 8 * 4, None),
        ("reduce_scatter", 4096, "sum"),
        ("all_to_all", 4 * 4, None),  # four elements one way, two the other
        ("broadcast", 4096, None),
        ("all_reduce", (16 + 32) * 4, "sum"),
        ("all_to_all", 4096, None),  # the permutation
        ("all_gather", 2 * 64 * 4, None),
        ("reduce_scatter", 2 * 64 * 4, "sum"),  # its backward pass
        ("all_reduce", 4096, "sum"),  # of torch.distributed
    ]
    assert {events.group_of(kinds[at]).name for at in both} == {"0"}, "the same group by object, name and ranks"
    assert kinds[both[5]].root_rank == 1
    alone = [s for at, s in enumerate(kinds) if at not in both]
    assert sorted((s.op, events.group_of(s).members, s.root_rank) for s in alone) == [
        ("broadcast", (0,), 0),
        ("broadcast", (1,), 1),
    ]
    assert events.compute_overlap_ns[both[0]] >= 30_000_000
    assert events.compute_before_ns[both[1]] >= 20_000_000
    assert (events.observed_exposed_ns >= 0).all()


def test_tensor_parallel_block(python: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    trace, _ = same_with_and_without(python, tmp_path / "trace.json", capfd, "tensor_parallel.py")
    # every step: the row-wise layer's output, and backward the column-wise layer's input, 8 x 16 float32 each
    reductions = [(op, nbytes) for op, nbytes, _, _ in counted(trace) if op == "all_reduce"]
    assert reductions == [("all_reduce", 8 * 16 * 4)] * 4
    # the parameters' way to their ranks: two weights and a bias in shards, a bias to all
    placed = sorted((op, nbytes) for op, nbytes, _, _ in counted(trace) if op != "all_reduce")
    assert placed == [("broadcast", 16 * 4), ("scatter", 64 * 4), *[("scatter", 64 * 16 * 4)] * 2]


def test_fully_sharded_layers(python: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    trace, _ = same_with_and_without(python, tmp_path / "trace.json", capfd, "fsdp2.py")
    # every step: both weights gathered forward and again backward, and both gradients scattered
    kinds = [(op, nbytes) for op, nbytes, _, _ in counted(trace)]
    assert sorted(kinds) == [*[("all_gather", 32 * 32 * 4)] * 8, *[("reduce_scatter", 32 * 32 * 4)] * 4]


def test_compiled_function_is_traced_as_without_the_recorder(
    python: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    trace, said = same_with_and_without(python, tmp_path / "trace.json", capfd, "compiled.py", "aot_eager")
    assert said.startswith("0 1 True "), "graph breaks, graphs, equal results"
    # explain, two compiled runs and two eager ones: each a functional and a plain all-reduce
    assert counted(trace) == [("all_reduce", 1024, "0", 2)] * 10
