"""``commcanary capture`` of jobs without PyTorch: they record by ``record_collective``, or not at all."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from commcanary.artifacts.files import read_artifact
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.artifacts.trace_table import from_stored
from commcanary.cli.main import run
from commcanary.errors import EXIT_CHILD_FAILED, EXIT_REFUSED, EXIT_USAGE
from commcanary.stages.trace import trace_stage

JOB = """
import subprocess, sys, time
from commcanary.capture import record_collective

def rank(number):
    start = time.monotonic_ns()
    record_collective(
        "all_reduce", 4096, (0, 1), start, rank=number, completed_ns=start + 900, waited_ns=start + 400,
        compute_before_ns=70, dtype="float32", in_elements=1024, out_elements=1024, reduction="sum", phase="decode",
    )
    record_collective("send" if number == 0 else "recv", 8, (0, 1), start + 1000, peer=1 - number, tag="x")

if len(sys.argv) > 1:
    rank(int(sys.argv[1]))
else:
    for process in [subprocess.Popen([sys.executable, __file__, str(number)]) for number in (0, 1)]:
        assert process.wait() == 0
"""


def script(folder: Path, text: str) -> list[str]:
    path = folder / "job.py"
    path.write_text(text)
    return [sys.executable, str(path)]


def test_calls_of_another_library(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "out" / "trace.parquet"
    output.parent.mkdir()
    assert run(["capture", "-o", str(output), "--workload-name", "mine", "--", *script(tmp_path, JOB)]) == 0
    assert capsys.readouterr().out.startswith("captured 2 collective events of 2 ranks (4 calls, skipped 0 control)\n")
    assert list(output.parent.iterdir()) == [output]
    trace = from_stored(read_artifact(output, TRACE))
    reduction, message = (trace.events.signatures[s] for s in trace.events.signature)
    assert trace.workload_name == "mine"
    assert (reduction.op, reduction.bytes, reduction.phase, reduction.reduction_op) == (
        "all_reduce",
        4096,
        "decode",
        "sum",
    )
    assert (message.op, message.sender_rank, message.receiver_rank, message.tag) == ("point_to_point", 0, 1, "x")
    assert trace.events.compute_before_ns.tolist() == [70, -1]
    assert trace.events.compute_overlap_ns.tolist() == [400, -1]
    assert trace.events.offsets_ns.known.all()
    assert "compute_overlap_us" in trace.header.unknown


def test_capture_as_the_source_of_a_campaign(tmp_path: Path) -> None:
    output = tmp_path / "out" / "trace.parquet"
    trace_stage("w", {"kind": "capture", "command": script(tmp_path, JOB), "auto": False}, [], output)
    assert list(output.parent.iterdir()) == [output]
    trace = from_stored(read_artifact(output, TRACE))
    assert (trace.workload_name, len(trace)) == ("w", 2)


def test_job_keeps_its_streams_its_path_and_its_own_sitecustomize(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("print('own sitecustomize')\n")
    monkeypatch.setenv("PYTHONPATH", str(own))
    text = "import sys\nprint([p for p in sys.path if 'startup' in p], sys.modules['sitecustomize'].__file__)\n"
    assert run(["capture", "-o", str(tmp_path / "t.json"), "--allow-empty", "--", *script(tmp_path, text)]) == 0
    first, second, last = capfd.readouterr().out.splitlines()
    assert first == "own sitecustomize"
    assert second == f"[] {own / 'sitecustomize.py'}"
    assert last == "captured nothing: no process recorded a collective, and no trace is written"


def test_nothing_recorded_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "t.json"
    assert run(["capture", "-o", str(output), "--", *script(tmp_path, "pass")]) == EXIT_REFUSED
    said = capsys.readouterr().err
    assert "recorded no collective" in said
    assert "--auto" in said
    assert "--allow-empty" in said
    assert not output.exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("raise SystemExit(7)", "ended with exit code 7"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "was killed by signal 9"),
    ],
)
def test_failing_child(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str) -> None:
    output = tmp_path / "out" / "t.json"
    output.parent.mkdir()
    assert run(["capture", "-o", str(output), "--", *script(tmp_path, text)]) == EXIT_CHILD_FAILED
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    assert list(output.parent.iterdir()) == []


def test_missing_rank_is_refused_and_what_there_is_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "kept"
    arguments = ["capture", "-o", str(tmp_path / "t.json"), "--preserve-on-failure", str(kept), "--"]
    assert run([*arguments, *script(tmp_path, JOB), "1"]) == EXIT_REFUSED
    assert "1 of 2 ranks wrote none: 0" in capsys.readouterr().err
    digest, name = (kept / "SHA256SUMS").read_text().split()
    assert hashlib.sha256((kept / name).read_bytes()).hexdigest() == digest


def test_command_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["capture", "-o", str(tmp_path / "t.json"), "--", str(tmp_path / "absent")]) == EXIT_REFUSED
    assert "absent cannot be started" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["-o", "t.json"], ["--", "true"], ["-o", "t.txt", "--", "true"]])
def test_usage(arguments: list[str]) -> None:
    assert run(["capture", *arguments]) == EXIT_USAGE


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("'all_reduce', 8, (0, 1), 5", "rank is unknown"),
        ("'all_reduce', 8, (0, 1), 5, rank=2", "rank 2 is not among"),
        ("'all_reduce', 0, (0, 1), 5, rank=0", "nbytes is 0"),
        ("'send', 8, (0, 1), 5, rank=0", "names another of its ranks"),
        ("'all_reduce', 8, (0, 1), 5, rank=0, completed_ns=4", "completed_ns lies before"),
    ],
)
def test_calls_that_cannot_be(tmp_path: Path, capfd: pytest.CaptureFixture[str], arguments: str, said: str) -> None:
    text = f"from commcanary.capture import record_collective as r\nr({arguments})\n"
    assert run(["capture", "-o", str(tmp_path / "t.json"), "--", *script(tmp_path, text)]) == EXIT_CHILD_FAILED
    assert said in capfd.readouterr().err


def test_recording_without_a_capture_does_nothing() -> None:
    from commcanary.capture import record_collective

    record_collective("all_reduce", -1, (), 0)


@pytest.mark.parametrize(
    "arguments", [["-o", "file/t.json"], ["-o", "folder.json"], ["-o", "t.json", "--preserve-on-failure", "file"]]
)
def test_places_that_cannot_be_written_are_refused_before_the_job_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "folder.json").mkdir()
    command = script(tmp_path, "import pathlib; pathlib.Path('ran').touch()")
    assert run(["capture", *arguments, "--", *command]) == EXIT_REFUSED
    (line,) = capsys.readouterr().err.splitlines()
    assert arguments[-1].split("/")[0] in line
    assert "the command did not run" in line or "the folder file is not there" in line
    assert not (tmp_path / "ran").exists()


def test_termination_ends_the_job_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    job = script(tmp_path, "import time; print('up', flush=True); time.sleep(60)")
    entry = "import sys; from commcanary.cli.main import run; sys.exit(run(sys.argv[1:]))"
    command = [sys.executable, "-c", entry, "capture", "-o", str(tmp_path / "out" / "t.json"), "--", *job]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as capture:
        assert capture.stdout is not None
        assert capture.stdout.readline() == "up\n"
        capture.terminate()
        _, said = capture.communicate(timeout=30)
    assert capture.returncode == EXIT_CHILD_FAILED
    assert "was killed by signal 15" in said
    assert list((tmp_path / "out").iterdir()) == []
