"""A value that an option cannot have is wrong usage: one line, code 2, before anything is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commcanary.cli.main import run

if TYPE_CHECKING:
    from pathlib import Path

BIG = str(2**70)


@pytest.mark.parametrize(
    "arguments",
    [
        "import-kineto x.json -o o.json --clock-offset-us 0=nan",
        "import-nsys x.sqlite -o o.json --clock-offset-us 0=inf",
        "import-flight-recorder x.json -o o.json --clock-offset-us 0=1e300",
        "overlap x.json -o o.json --clock-offset-us 0=1 --clock-offset-us 0=2",
        "import-nsys x.sqlite -o o.json --trim 5 1",
        "overlap x.json -o o.json --range (",
        "compile x.json -o o.json --quantum-us nan",
        "compile x.json -o o.json --quantum-us 1e300",
        "compile x.json -o o.json --max-gap-error-us inf",
        f"compile x.json -o o.json --max-input-bytes {BIG}",
        "replay x.json -o o.json --assume gap_us=0 --assume gap_us=1",
        "replay x.json -o o.json --assume gap_us=nan",
        "replay x.json -o o.json --latency-floor-us 1e308",
        "replay x.json -o o.json --bandwidth-gbps 1e-300",
        "replay x.json -o o.json --bandwidth-gbps 0",
        "replay x.json -o o.json --iterations 1000000000000",
        "replay x.json -o o.json --iterations -1",
        "replay x.json -o o.json --ablate everything",
        "replay x.json -o o.json --seed -1",
        f"replay x.json -o o.json --seed {2**64 - 1}",
        f"verify-behavior x.json y.json -o o.json --seed {BIG}",
        "verify-behavior x.json y.json -o o.json --tail-recall 2",
        "verify-behavior x.json y.json -o o.json --absolute-us 1e308",
        "compare x.json y.json -o o.json --p99-threshold-pct inf",
        "baseline x.json -o o.json --method random --seed -1",
        "baseline x.json -o o.json --method random --sample-count 0",
        f"synth inference -o o.json --seed {BIG}",
        "synth inference -o o.json --repeat 100000000000",
        "synth ddp -o o.json --ranks 1000000000000",
        "synth pipeline -o o.json --stages 1000000000000",
        "whatif x.yaml -o o.json --grid 1",
        "replay x.json",
        "replay x.json -o o.json --unknown",
    ],
)
def test_one_line_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], arguments: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(arguments.split()) == 2
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert said.err.startswith("commcanary: ")
    assert list(tmp_path.iterdir()) == []


def test_samples_that_fit_no_memory_are_refused_before_they_are_made(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    trace, canary, report = (str(tmp_path / name) for name in ("t.json", "c.json", "r.json"))
    assert run(["synth", "inference", "-o", trace, "--events", "66"]) == 0
    assert run(["compile", trace, "-o", canary]) == 0
    capfd.readouterr()
    for model in ("scheduler-v4", "closed-loop-v1"):
        assert run(["replay", canary, "-o", report, "--iterations", "1000000000", "--model", model]) == 3
        said = capfd.readouterr().err
        assert "samples, more than 50,000,000" in said
        assert said.count("\n") == 1
