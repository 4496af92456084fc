"""Refusals name the file that is at fault, and words agree with their numbers."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from commcanary.cli.main import run
from commcanary.errors import InputRefusal
from commcanary.judge.policy import Policy
from commcanary.units import show_count, show_ratio

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    file = tmp_path / "t.json"
    assert run(["synth", "inference", "-o", str(file), "--events", "66"]) == 0
    return file


@pytest.mark.parametrize("option", ["--configurations", "--held-out"])
def test_a_name_given_twice_is_the_fault_of_the_file_that_gives_it(
    tmp_path: Path, trace: Path, capfd: pytest.CaptureFixture[str], option: str
) -> None:
    file = tmp_path / "e.yaml"
    file.write_text("configurations:\n  - name: a\n  - name: a\n")
    assert run(["compile", str(trace), "-o", str(tmp_path / "c.json")]) == 0
    capfd.readouterr()
    output = str(tmp_path / "v.json")
    assert run(["verify-behavior", str(trace), str(tmp_path / "c.json"), "-o", output, option, str(file)]) == 3
    assert capfd.readouterr().err.startswith(f"commcanary: {file}: configurations[1].name: ")


def test_the_command_that_a_new_campaign_is_run_with_can_be_pasted(
    tmp_path: Path, trace: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "my campaign.yaml"
    assert run(["campaign", "new", "--from", str(trace), "-o", str(file)]) == 0
    command = capfd.readouterr().out.rpartition("run it with: ")[2]
    assert shlex.split(command) == ["commcanary", "campaign", "run", str(file)]


def test_a_range_without_an_end_is_said_as_one() -> None:
    with pytest.raises(InputRefusal, match="give a finite number of 1 or more"):
        Policy(min_runs=0)
    with pytest.raises(InputRefusal, match="give 0 to 1"):
        Policy(min_agreement=2)


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (1.0, "same size"),
        (1.001, "about the same size"),
        (0.999, "about the same size"),
        (1.01, "1.01x smaller"),
        (0.98, "1.02x LARGER"),
        (2.561, "2.56x smaller"),
        (0.0, "LARGER"),
    ],
)
def test_a_ratio_never_says_that_one_is_different(ratio: float, said: str) -> None:
    assert show_ratio(ratio) == said


def test_one_is_singular() -> None:
    assert [show_count(number, "event") for number in (0, 1, 2)] == ["0 events", "1 event", "2 events"]
