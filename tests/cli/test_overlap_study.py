"""``overlap-study``: the worked example as profiles of a device, refusals, and a real gloo job run three ways."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from commcanary.artifacts.files import read_artifact
from commcanary.cli.main import run
from commcanary.judge.study_document import OVERLAP_STUDY, OverlapStudy

ROOT = Path(__file__).resolve().parents[2]
MS = 1000.0
STEPS = 10
GROUP = {"pg_name": "0", "pg_desc": "default_pg", "pg_size": 2, "ranks": [0, 1]}


def span(name: str, cat: str, ts: float, dur: float, tid: Any, **args: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": tid, "ts": ts, "dur": dur, "args": args}


def way(
    compute: float | None,
    communication: float | None,
    *,
    rank: int = 0,
    steps: int | None = STEPS,
    host: float = 0.0,
    elements: int = 1 << 20,
    kernel: str = "gemm",
    grid: int = 8,
    jitter: float = 0.0,
    extra: tuple[dict[str, Any], ...] = (),
) -> dict[str, Any]:
    """Steps every 100 ms with a matmul and an all-reduce of the given ms that start together, None: without."""
    events: list[dict[str, Any]] = list(extra)
    for number in range(STEPS if steps is None else steps):
        at = 100 * MS * number
        length = host or max(compute or 0, communication or 0) + 1
        if steps is not None:
            events.append(span(f"ProfilerStep#{number}", "user_annotation", at, length * MS, 1))
        if compute is not None:
            dur = compute * MS + jitter * number
            events.append(span(kernel, "kernel", at, dur, 7, device=0, stream=7, grid=[grid, 1, 1], block=[64, 1, 1]))
        if communication is not None:
            said = {
                "Collective name": "allreduce",
                "In msg nelems": elements,
                "Out msg nelems": elements,
                "dtype": "Float",
                "Group size": 2,
                "Process Group Name": "0",
                "Process Group Ranks": "[0, 1]",
                "External id": number + 1,
            }
            events.append(span("record_param_comms", "cpu_op", at, 10.0, 1, **said))
            events.append(
                span("ncclDevKernel_AllReduce_Sum_f32_RING_LL", "kernel", at, communication * MS, 20, device=0,
                     stream=20, **{"External id": number + 1})
            )  # fmt: skip
    info = {"backend": "nccl", "rank": rank, "world_size": 2, "pg_config": [GROUP]}
    return {"schemaVersion": 1, "distributedInfo": info, "traceEvents": events, "traceName": "t.json"}


GOOD = {"compute": way(25, None), "communication": way(None, 20), "overlapped": way(29, 33)}
RIGHT = {"compared": "loss", "largest_difference": 0.0, "tolerance": 1e-6, "equivalent": True}


def in_steps(steps: int | None) -> dict[str, Any]:
    """The good runs with that many profiler steps."""
    return {
        "compute": way(25, None, steps=steps),
        "communication": way(None, 20, steps=steps),
        "overlapped": way(29, 33, steps=steps),
    }


def arguments(folder: Path, ways: dict[str, Any], correctness: dict[str, Any] | None = RIGHT) -> list[str]:
    given = []
    for name, profiles in ways.items():
        for number, profile in enumerate(profiles if isinstance(profiles, list) else [profiles]):
            file = folder / f"{name}{number}.json"
            file.write_text(json.dumps(profile), encoding="utf-8")
            given += [f"--{name}", str(file)]
    if correctness is not None:
        (folder / "right.json").write_text(json.dumps(correctness), encoding="utf-8")
        given += ["--correctness", str(folder / "right.json")]
    return ["overlap-study", *given, "-o", str(folder / "out.json")]


def studied(
    folder: Path, ways: dict[str, Any], correctness: dict[str, Any] | None = RIGHT, code: int = 0
) -> OverlapStudy:
    assert run(arguments(folder, ways, correctness)) == code
    return read_artifact(folder / "out.json", OVERLAP_STUDY).header


def test_worked_example(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """25 ms and 20 ms alone; beside each other 29 and 33: the gain is 12 ms, not 20."""
    found = studied(tmp_path, GOOD)
    (rank,) = found.ranks
    e = rank.equation_ns
    ms = 1_000_000
    assert (e.before, e.after, e.gain, e.promised) == (45 * ms, 33 * ms, 12 * ms, 20 * ms)
    assert (e.hidden, e.exposed, e.compute_only, e.idle) == (29 * ms, 4 * ms, 0, 0)
    assert (e.compute_slowdown, e.communication_slowdown, e.idle_gone) == (4 * ms, 13 * ms, 0)
    assert rank.tail_us.median == 4000
    assert rank.compute.ratio is not None
    assert rank.compute.ratio.median == 1.16
    assert rank.communication.ratio is not None
    assert rank.communication.ratio.median == 1.65
    assert [(k.name, k.bytes, k.added_us) for k in (*rank.kernels, *rank.collectives)] == [
        ("gemm", None, 4000),
        ("all_reduce", 4 << 20, 13000),
    ]
    assert found.step_times is not None
    assert found.step_times.gain_us == 13_000, "26 + 21 - 34 ms on the host"
    assert (found.verdict.outcome, found.correctness.outcome) == ("better", "passed")
    assert (found.message_sizes.outcome, found.shapes.outcome) == ("passed", "passed")
    assert all(memory.unknown for memory in found.memory)
    assert all(counters.unknown for counters in found.counters)
    said = capfd.readouterr().out
    assert "gain 12000.000 us = hidden 29000.000 - compute slowdown 4000.000 - communication slowdown 13000.000" in said


def test_slowdown_without_a_tail(tmp_path: Path) -> None:
    """c = 26, u = 25 alone and 30 beside it: nothing is exposed, 5 ms of slowdown, once."""
    found = studied(tmp_path, {**GOOD, "communication": way(None, 26), "overlapped": way(30, 26)})
    e = found.ranks[0].equation_ns
    ms = 1_000_000
    assert (e.exposed, e.compute_slowdown, e.after) == (0, 5 * ms, 30 * ms)
    assert e.after == e.compute_alone + e.compute_slowdown + e.exposed + e.idle
    assert found.ranks[0].tail_us.max == 0


def test_equation_sums_exactly_whatever_the_lengths(tmp_path: Path) -> None:
    ways = {
        "compute": [way(25, None, jitter=333.123), way(24, None, jitter=77.001)],
        "communication": [way(None, 20), way(None, 19.9)],
        "overlapped": [way(29, 21.5, jitter=13.007), way(30, 40, jitter=5)],
    }
    found = studied(tmp_path, ways)
    e = found.ranks[0].equation_ns
    assert e.before == e.compute_alone + e.idle_compute_alone + e.communication_alone + e.idle_communication_alone
    assert e.after == e.compute_only + e.exposed + e.hidden + e.idle
    assert e.after == e.compute_alone + e.compute_slowdown + e.exposed + e.idle
    assert e.gain == e.hidden - e.compute_slowdown - e.communication_slowdown + e.idle_gone == e.before - e.after
    assert [(side.repeats, side.steps) for side in found.sides] == [(2, STEPS)] * 3
    assert found.ranks[0].compute.alone_us.count == 2 * STEPS


def test_ranks_are_kept_apart_and_the_slowest_decides_the_step(tmp_path: Path) -> None:
    ways = {
        name: [profile, {**profile, "distributedInfo": {**profile["distributedInfo"], "rank": 1}}]
        for name, profile in GOOD.items()
    }
    ways["overlapped"][1] = way(31, 40, rank=1)
    found = studied(tmp_path, ways)
    assert [rank.rank for rank in found.ranks] == [0, 1]
    assert [rank.equation_ns.after // 1_000_000 for rank in found.ranks] == [33, 40]
    assert found.step_times is not None
    assert found.step_times.overlapped.median == 41_000


def test_memory_and_counters_where_the_profile_has_them(tmp_path: Path) -> None:
    def memory(size: int) -> dict[str, Any]:
        args = {"Total Allocated": size, "Total Reserved": 2 * size, "Device Type": 1, "Device Id": 0, "Bytes": 4}
        return {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 0, "tid": 1, "ts": 1.0, "args": args}

    def clock(value: float) -> dict[str, Any]:
        return {"ph": "C", "cat": "", "name": "GPU 0", "pid": 0, "tid": 1, "ts": 1.0, "args": {"SM clock MHz": value}}

    extra = (memory(100), memory(700), memory(300), clock(1400.0), clock(1300.0), clock(1500.0))
    found = studied(tmp_path, {**GOOD, "overlapped": way(29, 33, extra=extra)})
    over = found.memory[2]
    assert (over.peak_allocated, over.peak_reserved, over.unknown) == ({"1:0": 700}, {"1:0": 1400}, None)
    assert found.memory[0].peak_allocated is None
    values = found.counters[2].values
    assert values is not None
    assert values["GPU 0: SM clock MHz"].median == 1400


@pytest.mark.parametrize(
    ("ways", "correctness", "outcome", "told", "code"),
    [
        ({}, None, "unknown", "no --correctness file", 0),
        ({}, {**RIGHT, "largest_difference": 1.0, "equivalent": False}, "wrong_results", "something else", 1),
        ({"overlapped": way(40, 60)}, RIGHT, "worse", "gains -14000.000 us", 1),
        ({"overlapped": way(29, 33, host=47)}, RIGHT, "inconclusive", "gains 0.000 us", 0),
        ({"overlapped": way(20, 33)}, RIGHT, "inconclusive", "faster beside communication than alone (0.80x)", 0),
        (
            in_steps(None),
            RIGHT,
            "unknown",
            "no profiler steps",
            0,
        ),
        (
            in_steps(5),
            RIGHT,
            "unknown",
            "5 steps are too few",
            0,
        ),
    ],
)  # fmt: skip
def test_verdicts(
    tmp_path: Path, ways: dict[str, Any], correctness: dict[str, Any] | None, outcome: str, told: str, code: int
) -> None:
    verdict = studied(tmp_path, {**GOOD, **ways}, correctness, code).verdict
    assert verdict.outcome == outcome
    assert told in verdict.reason


@pytest.mark.parametrize(
    ("ways", "correctness", "told"),
    [
        (
            {"overlapped": way(29, 33, kernel="other")},
            RIGHT,
            "overlapped0.json: kernels: gemm occurs 0 times, 10 times",
        ),
        ({"overlapped": way(29, 33, grid=9)}, RIGHT, "overlapped0.json: shapes: ('gemm', '[8,1,1] [64,1,1]') occurs 0"),
        ({"overlapped": way(29, 33, elements=1 << 19)}, RIGHT, "overlapped0.json: messages: ('all_reduce', 2097152"),
        ({"overlapped": way(29, 33, steps=9)}, RIGHT, "steps: are 10, those of"),
        ({"compute": way(25, 20)}, RIGHT, "compute0.json: --compute: holds communication as well"),
        ({"communication": way(25, 20)}, RIGHT, "communication0.json: --communication: holds compute as well"),
        ({"communication": way(None, 20, rank=1)}, RIGHT, "--communication: has ranks [1], --overlapped [0]"),
        (
            {"compute": [way(25, None)] * 2 + [way(25, None, rank=1)]},
            RIGHT,
            "--compute: has runs per rank {0: 2, 1: 1}",
        ),
        ({}, {**RIGHT, "equivalent": False}, "right.json: equivalent: is False, but the largest difference is 0"),
        ({}, {"equivalent": True}, "right.json: top level: Object missing required field"),
    ],
)
def test_refusals(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], ways: dict[str, Any], correctness: dict[str, Any], told: str
) -> None:
    assert run(arguments(tmp_path, {**GOOD, **ways}, correctness)) == 3
    said = capfd.readouterr().err
    assert told in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out.json").exists()


def test_ignored_kernel_belongs_to_the_communication(tmp_path: Path) -> None:
    copies = tuple(
        span("copy_bucket", "kernel", 100 * MS * n + 40 * MS, 500.0, 7, device=0, stream=7, grid=[1], block=[1])
        for n in range(STEPS)
    )
    ways = {**GOOD, "overlapped": way(29, 33, extra=copies, host=45)}
    assert run(arguments(tmp_path, ways)) == 3
    assert run([*arguments(tmp_path, ways), "--ignore-kernel", "copy_bucket"]) == 0
    found = read_artifact(tmp_path / "out.json", OVERLAP_STUDY).header
    assert found.ignored == ("copy_bucket",)
    assert found.ranks[0].equation_ns.after == 33_000_000


def of(folder: Path) -> list[str]:
    given = []
    for name in ("compute", "communication", "overlapped"):
        for rank in (0, 1):
            given += [f"--{name}", str(folder / f"{name}-rank{rank}.json.gz")]
    return [*given, "--correctness", str(folder / "correctness.json")]


def check_real(found: OverlapStudy, steps: int, least_hidden: int) -> None:
    assert [(side.ranks, side.steps) for side in found.sides] == [((0, 1), steps)] * 3
    assert (found.correctness.outcome, found.message_sizes.outcome, found.shapes.outcome) == ("passed",) * 3
    for rank in found.ranks:
        e = rank.equation_ns
        assert e.hidden >= least_hidden, "products ran while the tensor was reduced"
        assert e.after == e.compute_only + e.exposed + e.hidden + e.idle
        assert e.after == e.compute_alone + e.compute_slowdown + e.exposed + e.idle
        assert e.gain == e.hidden - e.compute_slowdown - e.communication_slowdown + e.idle_gone
        assert [kernel.name for kernel in rank.kernels] == ["aten::mm"]
        assert [(c.name, c.bytes) for c in rank.collectives] == [("all_reduce", 4 << 20)]


def test_captured_gloo_job(tmp_path: Path) -> None:
    folder = ROOT / "resources" / "overlap_study"
    assert run(["overlap-study", *of(folder), "-o", str(tmp_path / "out.json")]) in (0, 1)
    check_real(read_artifact(tmp_path / "out.json", OVERLAP_STUDY).header, 16, least_hidden=1)


def test_gloo_job_run_three_ways_now(tmp_path: Path) -> None:
    python = os.environ.get("COMMCANARY_TORCH_PYTHON", sys.executable)
    probe = "import torch.distributed as d; raise SystemExit(not (d.is_available() and d.is_gloo_available()))"
    if subprocess.run([python, "-c", probe], capture_output=True, check=False).returncode:
        pytest.skip("no PyTorch here: install commcanary[torch], or name its interpreter in COMMCANARY_TORCH_PYTHON")
    script = ROOT / "resources" / "overlap_study" / "run.py"
    subprocess.run([python, str(script), "--output-dir", str(tmp_path / "three")], capture_output=True, check=True)
    assert run(["overlap-study", *of(tmp_path / "three"), "-o", str(tmp_path / "out.json")]) in (0, 1)
    check_real(
        read_artifact(tmp_path / "out.json", OVERLAP_STUDY).header, 16, least_hidden=0
    )  # a busy machine may leave nothing to hide
