"""``calibrate``: two logs become two configurations that the other commands take."""

from __future__ import annotations

from pathlib import Path

import pytest

from commcanary.artifacts.files import read_artifact
from commcanary.cli.main import run
from commcanary.sources.nccl_tests.calibration import CALIBRATION
from commcanary.stages.configurations import read_configurations


@pytest.fixture
def logs(shared_traces: Path) -> list[str]:
    folder = shared_traces / "nccl-tests"
    return [str(folder / "superbench_nccl_allreduce.log"), str(folder / "superbench_nccl_allgather.log")]


def test_two_logs_two_configurations(logs: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "c.yaml"
    names = ["--name", "old", "--name", "new", "--operation", "all_gather", "--min-bytes", "64 MiB"]
    assert run(["calibrate", *logs, "-o", str(output), *names]) == 0
    said = capfd.readouterr().out
    old, new = read_configurations(output)
    assert [old.name, new.name] == ["old", "new"]
    document = read_artifact(output.with_suffix(".calibration.json"), CALIBRATION).header
    assert [table.configuration for table in document.tables] == [old, new]
    assert [(t.operation, t.operation_from, t.ranks) for t in document.tables] == [
        ("all_reduce", "table", 8),
        ("all_gather", "option", 8),
    ]
    assert all(len(table.fit.residuals) == 8 for table in document.tables)
    assert document.tables[0].fit.law.bandwidth_gb_s == pytest.approx(134.0, rel=0.03), "the log's own large algbw"
    assert "old: all_reduce on 8 ranks, 8 sizes from 67,108,864 to 8,589,934,592 B, out of place" in said


def test_misfit_is_said(logs: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["calibrate", logs[0], "-o", str(tmp_path / "c.yaml")]) == 0
    assert "one startup and one bandwidth miss 2,097,152 B by 41.3 % of its time" in capfd.readouterr().out


def test_same_logs_same_bytes(logs: list[str], tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        assert run(["calibrate", logs[0], "-o", str(tmp_path / name / "c.yaml")]) == 0
    for file in ("c.yaml", "c.calibration.json"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


@pytest.mark.parametrize(
    ("which", "options", "code", "told"),
    [
        ([1], [], 3, "does not name the program"),
        ([1], ["--operation", "all_reduce"], 3, "rows: busbw / algbw is 0.875; all_reduce on 8 ranks has 1.750"),
        ([0], ["--min-bytes", "9 GiB"], 3, "none of 34 rows is measured out of place within the sizes"),
        ([0], ["--min-bytes", "8 GiB"], 3, "1 distinct size(s) measured"),
        ([0], ["--min-bytes", "many"], 2, "--min-bytes: 'many' is no size"),
        ([0], ["--name", "a", "--name", "b"], 2, "--name is given 2 times for 1 logs"),
        ([0], ["--name", "a b"], 2, "--name 'a b'"),
        ([0, 0], [], 2, "two logs would be called superbench_nccl_allreduce"),
    ],
)
def test_refusals(
    logs: list[str],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    which: list[int],
    options: list[str],
    code: int,
    told: str,
) -> None:
    output = tmp_path / "out" / "c.yaml"
    output.parent.mkdir()
    assert run(["calibrate", *(logs[i] for i in which), "-o", str(output), *options]) == code
    said = capfd.readouterr().err
    assert told in said
    assert said.count("\n") == 1
    assert list(output.parent.iterdir()) == []
