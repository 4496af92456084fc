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


@pytest.mark.parametrize(
    ("arguments", "option", "value", "allowed"),
    [
        ("campaign verify x --sample 0", "--sample", "0", "a whole number of 1 or more"),
        ("campaign verify x --seed -1", "--seed", "-1", "a whole number from 0 to 9223372036854775807"),
        ("compile x.json -o o.json --max-events 0", "--max-events", "0", "a whole number of 1 or more"),
        ("compile x.json -o o.json --max-events 1.5", "--max-events", "'1.5'", "a whole number of 1 or more"),
        ("compile x.json -o o.json --max-events ten", "--max-events", "'ten'", "a whole number of 1 or more"),
        ("compile x.json -o o.json --quantum-us 0", "--quantum-us", "0", "a number from 0.001 to 1e+12"),
        ("compile x.json -o o.json --max-gap-error-us -1", "--max-gap-error-us", "-1", "a number of 0 or more"),
        ("compile x.json -o o.json --max-input-bytes 0", "--max-input-bytes", "0", f"1 to {10**18 - 1}"),
        ("reduce x.json -o o.json --budget 0", "--budget", "0", "a whole number of 1 or more"),
        ("whatif x.yaml -o o.json --parts 9", "--parts", "9", "a whole number from 2 to 6"),
        ("whatif x.yaml -o o.json --grid 1", "--grid", "1", "a whole number from 2 to 1000"),
        ("overlap x.json -o o.json --step-gap-ms -0.5", "--step-gap-ms", "-0.5", "a number of 0 or more"),
        ("overlap x.json -o o.json --trim 1 z", "--trim", "'z'", "a number"),
        ("overlap x.json -o o.json --trim 5 1", "--trim", "5 1", "START and END in seconds"),
        ("calibrate x -o o.yaml --level 2", "--level", "2", "a number from 0.5 to 0.999"),
        (
            "compare x.json y.json -o o.json --p99-threshold-pct -1",
            "--p99-threshold-pct",
            "-1",
            "a number of 0 or more",
        ),
        ("replay x.json -o o.json --iterations 0", "--iterations", "0", "a whole number from 1 to 1000000000"),
        ("replay x.json -o o.json --seed x", "--seed", "'x'", "a whole number"),
        ("replay x.json -o o.json --seed -1", "--seed", "-1", "a whole number from 0 to 2^63 - 1"),
        ("verify-behavior x.json y.json -o o.json --tail-recall 2", "--tail-recall", "2.0", "0 to 1"),
        ("baseline x.json -o o.json --method random --sample-count 0", "--sample-count", "0", "1 to 1000000000"),
        ("synth mixed -o o.json --events 0", "--events", "0", "1 to 20000000"),
        ("synth mixed -o o.json --repeat 0", "--repeat", "0", "1 or more"),
        ("synth mixed -o o.json --seed -3", "--seed", "-3", "0 to 2^63 - 1"),
        ("synth ddp -o o.json --ranks 1", "--ranks", "1", "2 ranks or more"),
        ("synth pipeline -o o.json --microbatches 0", "--microbatches", "0", "1 microbatch or more"),
    ],
)
def test_a_number_out_of_range_is_named_with_its_option_and_what_is_allowed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    arguments: str,
    option: str,
    value: str,
    allowed: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(arguments.split()) == 2
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    found, _, remedy = said.err.removeprefix("commcanary: ").partition("give ")
    assert option in found
    assert value in found.replace(option, "")
    assert allowed in remedy
    assert list(tmp_path.iterdir()) == []
