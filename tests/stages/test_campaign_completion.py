"""A campaign is complete where it is sealed as it is configured now, and only there."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from commcanary.campaign.plan import Plan
from commcanary.cli.main import run
from commcanary.stages.campaign_completion import why_incomplete
from commcanary.stages.seal import seal_stage

from .campaigns import CONFIG, make_campaign, write_config


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    make_campaign(folder / "results" / "small", write_config(folder))
    seal_stage(folder / "results" / "small", folder / "small.yaml")
    return folder


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "copy"))


def unseal(folder: Path) -> None:
    (folder / "results/small/seal.json").unlink()


def lose_the_page(folder: Path) -> None:
    (folder / "results/small/report.html").unlink()


def make_the_page_again(folder: Path) -> None:
    (folder / "results/small/report.html").write_text("another")


def never_run(folder: Path) -> None:
    shutil.rmtree(folder / "results")


def configure_otherwise(folder: Path) -> None:
    write_config(folder, {**CONFIG, "title": "another"})


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda folder: None, None),
        (unseal, "it is not sealed"),
        (lose_the_page, "4 cells done; 1 outputs missing"),
        (make_the_page_again, "report.html is newer than the seal"),
        (configure_otherwise, "its results are of another configuration, other inputs or other code"),
    ],
)
def test_why_it_is_not_complete(folder: Path, change: Callable[[Path], None], why: str | None) -> None:
    change(folder)
    assert why_incomplete(Plan.load(folder / "small.yaml"), folder / "results/small") == why


def test_without_results_it_is_not_complete(folder: Path) -> None:
    never_run(folder)
    assert why_incomplete(Plan.load(folder / "small.yaml"), folder / "results/small") == "nothing was made yet"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-np"], "campaign small: this was a dry run, nothing was made\n"),
        (["--until", "trace"], "campaign small is not complete: "),
        ([], "campaign small is not complete: "),
    ],
)
def test_run_claims_no_more_than_there_is(
    folder: Path,
    arguments: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With an engine that ends well and makes nothing."""
    never_run(folder)
    monkeypatch.chdir(folder)
    monkeypatch.setattr("commcanary.campaign.engine.run_engine", lambda *_, **__: 0)
    assert run(["campaign", "run", "small.yaml", *(["--", *arguments] if arguments else [])]) == (0 if arguments else 1)
    assert capsys.readouterr().out.startswith(said)
