"""``whatif`` as a user runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from commcanary.artifacts.files import read_artifact
from commcanary.cli.main import run
from commcanary.timeline.whatif import WHATIF, WhatIf

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


@pytest.fixture
def ddp(tmp_path: Path) -> Path:
    """A profile of a step whose backward computes 42 ms in six buckets of up to 25 MiB, at 55 Gbit/s."""
    folder = tmp_path / "profiles"
    made = ["synth", "ddp", "-o", str(tmp_path / "t.json"), "--profile", str(folder), "--events", "21", "--ranks", "2"]
    assert run(made) == 0
    return folder / "rank0.pt.trace.json"


def predicted(profile: Path, output: Path, *options: str) -> WhatIf:
    assert run(["whatif", "--profile", str(profile), "-o", str(output), *options]) == 0
    return read_artifact(output, WHATIF).header


def test_measured_step_is_predicted_as_it_is(ddp: Path, tmp_path: Path) -> None:
    found = predicted(ddp, tmp_path / "w.json")
    assert found.law_from == "measured collectives"
    assert found.law.startup_us == pytest.approx(7.5 + 1.15 + 4, abs=0.01), "the floor, one level, the launch"
    assert found.law.bandwidth_gb_s == pytest.approx(55 / 8, abs=0.001)
    assert found.segment.compute_us == 67_000
    assert [b.ready_us for b in found.segment.buckets] == [27_000, 34_000, 41_000, 48_000, 55_000, 62_000, 67_000]
    assert {b.needed_us for b in found.segment.buckets[:6]} == {62_000}
    assert found.model_check is not None
    assert abs(found.model_check.error_us) < 0.1
    last = 12.65 + 25 * 2**20 * 8 / 55_000
    assert found.outcome.tail_us == pytest.approx(last + 12.65, abs=0.1)


def test_split_of_a_measured_bucket(ddp: Path, tmp_path: Path) -> None:
    """In halves at 58.5 and 62 ms: the first is done at 60.4, so the tail is the second half."""
    options = ["--assume-even-ready", "--split", "all_reduce 6", "--grid", "2"]
    found = predicted(ddp, tmp_path / "w.json", *options)
    (half,) = found.variants
    ready = [bucket.ready_us for bucket in half.buckets[5:7]]
    assert ready == pytest.approx([58_500, 62_000], abs=1)
    each = 12.65 + 12.5 * 2**20 * 8 / 55_000
    assert half.tail_us == pytest.approx(each + 12.65, abs=0.1)
    assert half.gain_us == pytest.approx(12.5 * 2**20 * 8 / 55_000, abs=0.1)
    assert any("become ready evenly" in assumption for assumption in found.assumptions)


def test_real_profile_in_which_nothing_waits_checks_nothing(
    shared_traces: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = predicted(shared_traces / "kineto" / "nccl_data.json.gz", tmp_path / "w.json", "--step", "ProfilerStep#5")
    assert found.model_check is None
    assert "nothing waited" in str(found.model_unchecked)
    assert len(found.segment.buckets) == 5
    printed = capfd.readouterr().out
    assert "measured 213532.750 us; the model is not checked" in printed
    assert "all but waits 213532.750" in printed
    assert "compute 213532.750" not in printed


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        (["--step", "ProfilerStep#9"], 3, "--step: 'ProfilerStep#9' is not there; there are ProfilerStep#0"),
        (["--operation", "all_gather"], 3, "--operation: all_gather is not in the step; there are: all_reduce"),
        (["--split", "all_reduce 2"], 3, "all_reduce 2.ready_from_us: is not given"),
        ([str(EXAMPLE)], 2, "one of them"),
    ],
)
def test_refusals_of_a_profile(
    ddp: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], options: list[str], code: int, told: str
) -> None:
    capfd.readouterr()
    assert run(["whatif", "--profile", str(ddp), "-o", str(tmp_path / "w.json"), *options]) == code
    assert told in capfd.readouterr().err
    assert not (tmp_path / "w.json").exists()


def test_profiles_that_cannot_say_what_waits(
    shared_traces: Path, gloo_ddp: list[Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for profile, told in (
        (gloo_ddp[0], "are those of a host, where no event shows what waits"),
        (shared_traces / "kineto" / "sampled_rank-0.json.gz", "no collective of the step has a known size"),
    ):
        assert run(["whatif", "--profile", str(profile), "-o", str(tmp_path / "w.json")]) == 3
        assert told in capfd.readouterr().err


def test_options_of_a_profile_need_one(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["whatif", str(EXAMPLE), "-o", str(tmp_path / "w.json"), "--step", "ProfilerStep#1"]) == 2
    assert "--profile" in capfd.readouterr().err
    assert run(["whatif", "-o", str(tmp_path / "w.json")]) == 2
    assert "one of them" in capfd.readouterr().err


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
