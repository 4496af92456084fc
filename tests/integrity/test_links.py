"""Nothing is written or read through links that lead out of a campaign's folder, and no pipe holds a reader up."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from commcanary.campaign.links import own_place
from commcanary.campaign.logs import last_words, unfinished_jobs
from commcanary.cli.main import run
from commcanary.errors import StorageRefusal
from commcanary.reporting.benchmarks import read_jobs
from commcanary.stages.job import job_log
from commcanary.stages.verify_campaign import verify_campaign_stage


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    folder = tmp_path / "elsewhere"
    (folder / "deep").mkdir(parents=True)
    (folder / "file").write_text("mine\n")
    return folder


def content(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def directory(sealed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the finished campaign in ``results/small``."""
    shutil.copytree(sealed, tmp_path / "work" / "results" / "small")
    shutil.copy(sealed.parent / "small.yaml", tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("results/.running", "file"),
        ("results/small/logs", "deep"),
        ("results/small/logs/engine.log", "file"),
        ("results/small/logs/replay", "deep"),
        ("results/small/benchmarks", "deep"),
        ("results/small/superseded", "deep"),
        ("results/small/made/canary/reports/new", "missing"),
    ],
)
def test_a_run_writes_through_no_link(
    directory: Path, elsewhere: Path, link: str, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = content(elsewhere)
    (directory / link).parent.mkdir(parents=True, exist_ok=True)
    (directory / link).symlink_to(elsewhere / target)
    assert run(["campaign", "run", "small.yaml"]) == 3
    said = capsys.readouterr().err.splitlines()
    expected = f"{link}: is a link to {elsewhere / target}; remove it: nothing is written through links"
    assert said[-1].startswith("commcanary: ")
    assert said[-1].endswith(expected)
    assert content(elsewhere) == before
    if link.startswith("results/small/"):
        assert run(["campaign", "seal", "results/small"]) == 3
        assert capsys.readouterr().err.endswith(f"{expected}\n")
        assert content(elsewhere) == before
        assert (directory / link).is_symlink()


def test_a_pipe_where_a_run_writes_is_refused(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (directory / "results/small/logs").mkdir()
    os.mkfifo(directory / "results/small/logs/engine.log")
    assert run(["campaign", "run", "small.yaml"]) == 3
    assert "logs/engine.log: is a pipe or device; remove it" in capsys.readouterr().err


def test_what_a_seal_sets_aside_goes_through_no_link(
    results: Path, elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (results / "old.json").write_text("{}")
    (results / "superseded").symlink_to(results / "logs")  # inside, and still a link where the seal writes
    (results / "logs").mkdir()
    assert run(["campaign", "seal", str(results)]) == 3
    assert "superseded: is a link to " in capsys.readouterr().err
    assert (results / "old.json").exists()


def test_a_file_in_place_of_a_folder_that_a_seal_writes_is_refused(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (results / "old.json").write_text("{}")
    (results / "superseded").write_text("mine")
    assert run(["campaign", "seal", str(results)]) == 3
    assert "superseded: is a file where a folder is needed; remove it, or move it away" in capsys.readouterr().err
    assert (results / "old.json").exists()


@pytest.mark.parametrize("link", ["logs", "logs/replay", "logs/replay/a.log"])
def test_a_jobs_log_goes_through_no_link(
    tmp_path: Path, elsewhere: Path, link: str, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results" / "c"
    (results / link).parent.mkdir(parents=True)
    (results / link).symlink_to(elsewhere / ("file" if link.endswith(".log") else "deep"))
    before = content(elsewhere)
    with pytest.raises(SystemExit) as ended, job_log(str(results / "logs/replay/a.log")):
        raise AssertionError("the stage ran")
    assert ended.value.code == 3
    assert capsys.readouterr().err.startswith(f"commcanary: {results / link}: is a link to ")
    assert content(elsewhere) == before


def test_results_and_the_campaigns_own_folder_may_be_links(tmp_path: Path, elsewhere: Path) -> None:
    (tmp_path / "results").symlink_to(elsewhere)
    (elsewhere / "c").symlink_to(elsewhere / "deep")
    with job_log(str(tmp_path / "results/c/logs/replay/a.log")):
        print("said")
    with job_log(str(tmp_path / "results/index.log")):
        pass
    assert (elsewhere / "deep/logs/replay/a.log").read_text() == "said\ndone\n"
    place = tmp_path / "results/c/logs/engine.log"
    assert own_place(tmp_path / "results/c", place) == place
    with pytest.raises(StorageRefusal, match="is a link to"):
        own_place(tmp_path, place)


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero"), lambda path: path.mkdir()])
def test_a_log_or_by_product_that_is_no_file_is_read_by_nobody(results: Path, make, capsys) -> None:  # type: ignore[no-untyped-def]
    names = (
        "logs/replay/made.canary.log",
        "logs/page.log",
        "benchmarks/replay/made.canary.tsv",
        "made/canary/reports/index-9.json",
        "made/canary/reports/congested.parquet.receipt.json",
    )
    for name in names:
        (results / name).parent.mkdir(parents=True, exist_ok=True)
        (results / name).unlink(missing_ok=True)
        make(results / name)
    (results / "made/canary/reports/congested.parquet").unlink()
    assert run(["campaign", "status", str(results)]) == 1
    assert "made/canary/congested: missing, not made yet" in capsys.readouterr().out
    assert list(unfinished_jobs(results, 0.0)) == []
    assert read_jobs(results / "benchmarks") == ()
    found = verify_campaign_stage(results, sample=1, seed=1).differs
    if not (results / names[0]).is_dir():
        assert {f"not sealed: {name}" for name in names} <= set(found)


def test_a_log_elsewhere_says_nothing_here(results: Path, elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (elsewhere / "deep" / "a.log").write_text("secret\n")
    (results / "report.html").unlink()
    (results / "logs").symlink_to(elsewhere / "deep")
    assert run(["campaign", "status", str(results)]) == 1
    assert "secret" not in capsys.readouterr().out


def test_the_last_words_of_a_long_log_are_read_from_its_end(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    with log.open("wb") as stream:
        stream.truncate(2**40)
        stream.seek(2**40)
        stream.write(b"\nlast but one\n\nlast\n")
    assert last_words(log, 2) == ["last but one", "last"]
