"""The commands that import, as a user meets them: summaries, refusals in one line, exit codes, nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest

from commcanary.cli.main import run

ROOT = Path(__file__).resolve().parents[2]
ONE_JOB = ROOT / "resources" / "one_job"
EXPORT = str(ROOT / "resources" / "nsys" / "two_ranks.sqlite")
TRACES = [str(ONE_JOB / f"et_rank{rank}.json.gz") for rank in (0, 1)]
DUMPS = [str(ONE_JOB / f"fr_rank{rank}.json") for rank in (0, 1)]
RECORDS = [str(path) for path in sorted((ROOT / "resources" / "nccl_job").glob("inspector-*.log"))]
LOGS = [str(path) for path in sorted((ROOT / "resources" / "nccl_job").glob("nccl-*.log"))]

DONE = [
    (["import-nsys", EXPORT], "imported 9 collective events (skipped 0 control, 0 empty)"),
    (["import-nsys", EXPORT, "--trim", "0.002", "0.003"], "imported 3 collective events"),
    (["import-chakra", *TRACES, "--rank", "0", "--rank", "1"], "imported 20 collective events"),
    (["import-flight-recorder", *DUMPS, "--assume-shared-clock"], "imported 20 collective events"),
    (["import-nccl-inspector", *RECORDS, "--estimate-clock"], "imported 17 collective events"),
    (["import-nccl-inspector", *RECORDS, "--process-group", "world"], "imported 5 collective events"),
    (["import-nccl-log", *LOGS, "--assume-shared-clock"], "imported 22 collective events"),
    (["import-nccl-log", *LOGS, "--process-group", "0x9f3c27a5d1e06b42"], "imported 10 collective events"),
]


@pytest.mark.parametrize(("arguments", "told"), DONE)
@pytest.mark.parametrize("suffix", [".json", ".parquet"])
def test_import_then_compile(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], arguments: list[str], told: str, suffix: str
) -> None:
    output = str(tmp_path / f"trace{suffix}")
    assert run([*arguments, "-o", output]) == 0
    assert capfd.readouterr().out.startswith(told)
    assert run(["compile", output, "-o", str(tmp_path / f"canary{suffix}")]) == 0
    assert run(["show", output]) == 0


REFUSED = [
    (["import-nsys", "absent.sqlite"], 3, "absent.sqlite: cannot be read"),
    (["import-nsys", EXPORT, "--trim", "3", "2"], 2, "--trim 3 2"),
    (["import-nsys", EXPORT, "--trim", "7", "8"], 3, "no event lies inside"),
    (["import-nsys", EXPORT, "--communication-kernel", "mine=("], 2, "--communication-kernel mine=("),
    (["import-nsys", EXPORT, "--clock-offset-us", "0=1"], 2, "rank 1 has no offset"),
    (["import-nsys", EXPORT, EXPORT], 3, "seats two processes on one rank"),
    (["import-chakra", *TRACES], 3, "--rank"),
    (["import-chakra", *TRACES, "--rank", "0"], 2, "--rank is given 1 times for 2 traces"),
    (["import-chakra", *TRACES, "--rank", "0", "--rank", "0"], 2, "a rank of its own"),
    (["import-chakra", EXPORT], 3, "two_ranks.sqlite"),
    (["import-flight-recorder", *DUMPS, "--clock-offset-us", "0=1"], 2, "rank 1 has no offset"),
    (["import-flight-recorder", TRACES[0], "--rank", "0"], 3, "et_rank0.json.gz"),
    (["import-flight-recorder", *DUMPS, "--rank", "1"], 2, "--rank is given 1 times for 2 dumps"),
    (["import-nccl-inspector", *RECORDS[:2]], 3, "2 of 4 ranks of process group '0x9f3c27a5d1e06b42' have no"),
    (["import-nccl-inspector", *RECORDS, "--clock-offset-us", "0=1"], 2, "rank 1 has no offset"),
    (["import-nccl-inspector", *RECORDS, "--clock-offset-us", "0=1", "--estimate-clock"], 2, "not several"),
    (["import-nccl-inspector", DUMPS[0]], 3, "fr_rank0.json"),
    (
        ["import-nccl-log", *LOGS[1:]],
        3,
        "communicator 0x9f3c27a5d1e06b42/1.0 of 2 ranks, of which 1 is in no file given",
    ),
    (["import-nccl-log", *LOGS, "--rank", "0"], 2, "--rank changes nothing without --assume-default-group"),
    (["import-nccl-log", *LOGS, "--clock-offset-us", "0=1"], 2, "rank 1 has no offset"),
    (["import-nccl-log", *RECORDS], 3, "holds no line of a call; log with NCCL_DEBUG=INFO"),
]


@pytest.mark.parametrize(("arguments", "code", "told"), REFUSED)
def test_refused_in_one_line(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: int,
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run([*arguments, "-o", "trace.json"]) == code
    said = capfd.readouterr()
    assert told in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert list(tmp_path.iterdir()) == []


def test_reconcile_ends_with_its_verdict(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    seen, recorded = str(tmp_path / "seen.json"), str(tmp_path / "recorded.json")
    assert run(["import-chakra", *TRACES, "--rank", "0", "--rank", "1", "-o", seen]) == 0
    assert run(["import-flight-recorder", *DUMPS, "-o", recorded]) == 0
    capfd.readouterr()
    output = tmp_path / "reconciliation.json"
    assert run(["reconcile", seen, recorded, "-o", str(output)]) == 1
    told = capfd.readouterr().out
    assert told.startswith("reconciliation does not close: 0 of 5")
    assert run(["show", str(output)]) == 0
    assert capfd.readouterr().out.partition("\n")[2] == told
    assert run(["reconcile", seen, seen, "-o", str(output), "--name", "a", "--name", "b"]) == 0
    assert run(["reconcile", seen, seen, "-o", str(output)]) == 2
    assert run(["reconcile", seen, "-o", str(output)]) == 2
