"""``whatif`` as a user runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from commcanary.artifacts.files import read_artifact
from commcanary.cli.main import run
from commcanary.timeline.whatif import WHATIF

EXAMPLE = Path(__file__).resolve().parents[2] / "resources" / "whatif" / "backward.yaml"


def test_worked_example(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "w.json"
    assert run(["whatif", str(EXAMPLE), "-o", str(output)]) == 0
    said = capfd.readouterr().out.splitlines()
    assert said[1].startswith("as it is: 217000.000 us = compute 210000.000 + tail 7000.000 + slowdown 0.000;")
    assert said[2].startswith("80 + 16 MiB: 212000.000 us")
    assert said[3].startswith("80 + 16 MiB, kernels 1 ms slower: 213000.000 us")
    assert "assumed: a prediction, not a measurement" in said
    document = read_artifact(output, WHATIF).header
    assert [file.name for file in document.source_files] == ["backward.yaml"]
    assert run(["convert", str(output), str(tmp_path / "w.parquet")]) == 0
    assert run(["show", str(tmp_path / "w.parquet")]) == 0


def test_law_of_a_log(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    log = EXAMPLE.parents[1] / "nccl_tests" / "old.log"
    segment = tmp_path / "s.yaml"
    segment.write_text("{compute_us: 1000, buckets: [{name: a, bytes: 118 MB, ready_us: 500}]}")
    assert run(["whatif", str(segment), "-o", str(tmp_path / "w.json"), "--nccl-tests", str(log)]) == 0
    said = capfd.readouterr().out
    assert "(nccl-tests old.log)" in said
    assert "residuals of the law: median" in said
    found = read_artifact(tmp_path / "w.json", WHATIF).header
    assert found.outcome.step_us == pytest.approx(500 + 24 + 1000, rel=0.01), "24 us and 118 GB/s made the log"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{compute_us: 1, buckets: [{name: a, bytes: 1, ready_us: 0}]}", "law: is unknown"),
        ("{compute_us: 1, buckets: [{name: a, bytes: 1, ready: 0}]}", "buckets[0]"),
        ("{compute_us: 1, compute_us: 2}", "given twice"),
        ("[", "line 1"),
    ],
)
def test_refusals(tmp_path: Path, capfd: pytest.CaptureFixture[str], text: str, told: str) -> None:
    segment = tmp_path / "s.yaml"
    segment.write_text(text)
    assert run(["whatif", str(segment), "-o", str(tmp_path / "w.json")]) == 3
    said = capfd.readouterr().err
    assert said.startswith(f"commcanary: {segment}: ")
    assert told in said
    assert said.count("\n") == 1
    assert not (tmp_path / "w.json").exists()
