"""Real gloo jobs of unmodified scripts, started by torchrun."""

from __future__ import annotations

import os
import re
import socket
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
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    launcher = [python, "-m", "torch.distributed.run", f"--nproc-per-node={ranks}", f"--master-port={port}"]
    return [*launcher, str(JOBS / job), *arguments]


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
    plain = subprocess.run(torchrun(python, 3, "ddp.py"), capture_output=True, text=True, check=True).stdout
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
