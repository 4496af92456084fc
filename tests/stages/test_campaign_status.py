"""Status tells cells that are done from failed, missing and stale ones; an incomplete campaign has no summary."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from commcanary.campaign.cells import refuse_incomplete
from commcanary.campaign.manifest import plan_of
from commcanary.campaign.plan import Plan
from commcanary.campaign.receipts import receipt_path
from commcanary.cli.main import run
from commcanary.errors import IntegrityRefusal
from commcanary.stages.campaign_status import campaign_status_stage
from commcanary.stages.manifest import manifest_stage
from commcanary.stages.seal import seal_stage
from commcanary.stages.summary import summary_stage

from .campaigns import CONFIG, make_campaign, write_config

CELL = "made/canary/congested"
REPORT = "made/canary/reports/congested.parquet"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("status")
    make_campaign(folder / "small", write_config(folder))
    return folder


@pytest.fixture
def results(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished / "small", tmp_path / "small"))


def remove(results: Path) -> None:
    (results / REPORT).unlink()


def fail(results: Path) -> None:
    remove(results)
    log = results / "logs" / "replay" / "made.canary.0.log"
    log.parent.mkdir(parents=True)
    log.write_text("something\ncommcanary: canary.parquet: too big; get memory\n")


def be_killed(results: Path) -> None:
    remove(results)
    (results / "logs" / "replay").mkdir(parents=True)
    (results / "logs" / "replay" / "made.canary.0.log").touch()


def damage(results: Path) -> None:
    data = (results / REPORT).read_bytes()
    (results / REPORT).write_bytes(data[:-1] + bytes([data[-1] ^ 1]))


def lose_the_receipt(results: Path) -> None:
    receipt_path(results / REPORT).unlink()


def change_the_canary(results: Path) -> None:
    shutil.copy(results / "made/isolated/canary.parquet", results / "made/canary/canary.parquet")


def change_the_settings(results: Path) -> None:
    configurations = [CONFIG["configurations"][0], {**CONFIG["configurations"][1], "label": "other"}]
    config = write_config(results.parent, {**CONFIG, "configurations": configurations})
    manifest_stage(Plan.load(config), results / "manifest.json")


@pytest.mark.parametrize(
    ("change", "state", "why"),
    [
        (remove, "missing", "not made yet"),
        (be_killed, "missing", "not made yet"),
        (fail, "failed", "logs/replay/made.canary.0.log: commcanary: canary.parquet: too big; get memory"),
        (damage, "stale", "the file is not the one that its receipt names"),
        (lose_the_receipt, "stale", "it has no receipt"),
        (change_the_canary, "stale", "made from another canary"),
        (change_the_settings, "stale", "made under other settings"),
    ],
)
def test_a_cells_state(results: Path, change: Callable[[Path], None], state: str, why: str) -> None:
    change(results)
    status = campaign_status_stage(results)
    found = {str(cell.cell): cell for cell in status.cells}
    assert (found[CELL].state, found[CELL].why) == (state, why)
    assert found["made/isolated/baseline"].state == "done"
    assert status.exit_code == 1
    plan = plan_of(_manifest(results), results)
    with pytest.raises(IntegrityRefusal, match=f"{CELL} is {state}"):
        refuse_incomplete(plan, results)
    shutil.rmtree(results / "tables")
    with pytest.raises(IntegrityRefusal):
        summary_stage(plan, results, results / "tables")
    assert not (results / "tables").exists()


def _manifest(results: Path):  # type: ignore[no-untyped-def]
    from commcanary.artifacts.files import read_artifact
    from commcanary.campaign.manifest import MANIFEST

    return read_artifact(results / "manifest.json", MANIFEST).header


def test_a_complete_campaign(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = "campaign small: 4 cells: 4 done, 0 failed, 0 missing, 0 stale; "
    assert run(["campaign", "status", str(results)]) == 1
    assert capsys.readouterr().out == f"{said}it is not sealed\n"
    seal_stage(results)
    assert run(["campaign", "status", str(results)]) == 0
    assert capsys.readouterr().out == f"{said}sealed\n"


def of_an_earlier_manifest(results: Path) -> None:
    manifest_stage(Plan.load(write_config(results.parent, {**CONFIG, "title": "other"})), results / "manifest.json")


def changed_after_it(results: Path) -> None:
    (results / "report.html").write_text("another")


def damage_the_seal(results: Path) -> None:
    (results / "seal.json").write_text("garbage")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (of_an_earlier_manifest, "its seal is of an earlier manifest"),
        (changed_after_it, "report.html is newer than the seal"),
        (damage_the_seal, "its seal cannot be checked ("),
    ],
)
def test_a_seal_that_is_not_of_what_is_there_is_none(
    results: Path, change: Callable[[Path], None], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    seal_stage(results)
    change(results)
    assert run(["campaign", "status", str(results)]) == 1
    assert f"0 stale; {why}" in capsys.readouterr().out


def test_what_is_missing_and_what_is_unknown_is_named(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (results / "report.html").unlink()
    (results / "made" / "check.json").write_text("{}")
    assert run(["campaign", "status", str(results)]) == 1
    lines = capsys.readouterr().out.splitlines()[1:]
    assert lines == ["1 outputs missing: report.html", "1 files that the manifest does not know: made/check.json"]


def test_a_folder_without_a_manifest_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["campaign", "status", str(tmp_path)]) == 3
    assert "manifest.json: cannot be read" in capsys.readouterr().err


def test_why_an_output_is_missing_is_said_by_its_jobs_log(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (results / "report.html").unlink()
    for name, text in (("page", "Traceback\ncommcanary: no room\n"), ("seal", ""), ("figures", "done\n")):
        log = results / "logs" / f"{name}.log"
        log.parent.mkdir(exist_ok=True)
        log.write_text(text)
    assert run(["campaign", "status", str(results)]) == 1
    lines = capsys.readouterr().out.splitlines()[1:]
    assert lines == ["1 outputs missing: report.html", "- failed: logs/page.log: commcanary: no room"]
