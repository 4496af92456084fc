"""No command writes over what it reads, nor twice to one name, nor into a folder that is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commcanary.cli.main import run
from commcanary.cli.written import Written, check_written
from commcanary.errors import UsageError
from commcanary.stages.behavior_search import ledger_path
from commcanary.stages.calibrate import calibration_path
from commcanary.stages.export_param import account_path

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize(
    ("arguments", "both"),
    [
        ("replay x.json -o x.json", ("--output x.json", "CANARY x.json")),
        ("replay x.json -o o.json --html o.json", ("--html o.json", "--output o.json")),
        ("replay x.json -o o.json --html ./x.json", ("--html x.json", "CANARY x.json")),
        ("replay link.json -o x.json", ("--output x.json", "CANARY link.json")),
        ("replay hard.json -o x.json", ("--output x.json", "CANARY hard.json")),
        ("compile x.json -o x.json", ("--output x.json", "TRACE x.json")),
        ("compile x.search.json -o x.json --behavior-search", ("x.search.json", "TRACE x.search.json")),
        ("compile y.json -o x.json --behavior-search --held-out x.json", ("--output x.json", "--held-out x.json")),
        ("convert x.json x.json", ("B x.json", "A x.json")),
        ("import-kineto y.json x.json -o x.json", ("--output x.json", "PROFILES x.json")),
        ("overlap y.json -o o.json --against x.json --html x.json", ("--html x.json", "--against x.json")),
        ("overlap x.json -o o.json --html o.html --figures o.html", ("--figures o.html", "--html o.html")),
        ("calibrate x.calibration.json -o x.yaml", ("x.calibration.json", "LOGS x.calibration.json")),
        ("export-param x.account.json -o x.json", ("x.account.json", "CANARY x.account.json")),
        ("synth ddp -o p/rank0.pt.trace.json --profile p", ("--profile p", "--output p/rank0.pt.trace.json")),
        ("whatif --profile x.json -o x.json", ("--output x.json", "--profile x.json")),
        ("campaign new --from x.json -o x.json", ("--output x.json", "--from x.json")),
    ],
)
def test_an_output_that_is_another_file_of_the_command_is_wrong_usage(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    arguments: str,
    both: tuple[str, str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("x.json", "y.json", "x.search.json", "x.calibration.json", "x.account.json"):
        (tmp_path / name).write_text("precious")
    (tmp_path / "link.json").symlink_to("x.json")
    (tmp_path / "hard.json").hardlink_to("x.json")
    (tmp_path / "p").mkdir()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert run(arguments.split()) == 2
    said = capfd.readouterr().err
    assert said.count("\n") == 1
    assert all(name in said for name in both), said
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    "arguments", ["synth inference -o no/t.json", "synth ddp -o t.json --profile no/p", "convert t.json no/u.json"]
)
def test_a_folder_that_is_not_there_is_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], arguments: str
) -> None:
    monkeypatch.chdir(tmp_path)
    asked_folder = "--profile" in arguments
    assert run(arguments.split()) == (0 if asked_folder else 3), "a folder that an option asks for is made"
    assert (tmp_path / "no").exists() == asked_folder
    assert asked_folder or "the folder no is not there" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("suffix", "beside"),
    [(".search.json", ledger_path), (".calibration.json", calibration_path), (".account.json", account_path)],
)
def test_the_marks_name_the_files_that_the_stages_write(
    tmp_path: Path, suffix: str, beside: Callable[[Path], Path]
) -> None:
    output = tmp_path / "a.json"
    with pytest.raises(UsageError, match="beside"):
        check_written({"IN": (beside(output), None), "--output": (output, Written(beside=suffix))})


def test_files_that_differ_are_let_through(tmp_path: Path) -> None:
    given = {
        "IN": ([tmp_path / "a.json", tmp_path / "a.json"], None),
        "--output": (tmp_path / "b.json", Written(beside=".search.json", only_with="--behavior-search")),
        "--figures": (tmp_path, Written(files="*.svg")),
        "--held-out": (tmp_path / "b.search.json", None),
        "--behavior-search": (False, None),
    }
    check_written(given)
