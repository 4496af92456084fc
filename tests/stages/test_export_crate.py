"""The crate is what its four profiles demand, holds the campaign as it was sealed, and names only what is known."""

from __future__ import annotations

import copy
import hashlib
import json
import re
import shutil
import zipfile
from pathlib import Path

import pytest
from msgspec import structs

from commcanary.artifacts.files import read_artifact, write_artifact
from commcanary.artifacts.stored import Stored
from commcanary.campaign.crate import WORKFLOW_LICENSE
from commcanary.campaign.manifest import MANIFEST
from commcanary.campaign.seal import SEALS, seal_of
from commcanary.cli.main import run
from commcanary.stages.seal import seal_stage

from .campaigns import make_campaign, write_config
from .crate_rules import METADATA, RULES, Crate, Rule, ids, types

ROOT = Path(__file__).resolve().parents[2]
LICENSE = "https://spdx.org/licenses/CC-BY-4.0"
AUTHOR = ("Ada Lovelace", "https://example.org/ada")
SOCIETY = ("Analytical Society", "https://example.org/society")


def export(results: Path, output: Path, *options: str) -> int:
    return run(["campaign", "export-crate", str(results), "-o", str(output), "--license", LICENSE, *options])


def read(path: Path) -> Crate:
    with zipfile.ZipFile(path) as archive:
        return Crate(set(archive.namelist()), json.loads(archive.read(METADATA)))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crate")
    made = folder / "small"
    make_campaign(made, write_config(folder))
    seal_stage(made)
    (made / "timings.html").write_text("<!DOCTYPE html><title>Run times</title>")
    return made


@pytest.fixture(scope="module")
def path(results: Path) -> Path:
    written = results.parent / "small.crate.zip"
    assert export(results, written) == 0
    return written


@pytest.fixture
def crate(path: Path) -> Crate:
    return read(path)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.text)
def test_what_a_profile_demands_holds_and_is_missed_where_it_does_not(rule: Rule, crate: Crate) -> None:
    assert rule.holds(crate)
    broken = copy.deepcopy(crate)
    rule.breaks(broken)
    assert not rule.holds(broken)


def test_every_reference_leads_somewhere(crate: Crate) -> None:
    known = {entity["@id"] for entity in crate.graph}
    loose = {i for entity in crate.graph for value in entity.values() for i in ids(value) if i not in known}
    assert all(i.startswith("https://") for i in loose), loose


def test_every_file_of_the_archive_is_described_as_it_is(path: Path, crate: Crate) -> None:
    described = {entity["@id"]: entity for entity in crate.of_type("File")}
    assert set(described) == crate.names - {METADATA}
    with zipfile.ZipFile(path) as archive:
        for name, entity in described.items():
            data = archive.read(name)
            assert entity["sha256"] == hashlib.sha256(data).hexdigest(), name
            assert entity["contentSize"] == str(len(data)), name
    kinds = {name.rsplit(".")[-1]: entity["encodingFormat"] for name, entity in described.items()}
    assert kinds["parquet"] == "application/vnd.apache.parquet"
    assert kinds["md"] == "text/markdown"


def test_the_run_is_between_manifest_and_results(crate: Crate) -> None:
    (action,) = crate.of_type("CreateAction")
    assert ids(crate.root["mentions"]) == [action["@id"]]
    assert action["startTime"] <= action["endTime"]
    assert action["actionStatus"] == "http://schema.org/CompletedActionStatus"
    assert ids(action["object"]) == ["results/small/manifest.json"]
    assert "results/small/tables/cells.csv" in ids(action["result"])
    assert "results/small/seal.json" not in ids(action["result"])
    for parameter in crate.of_type("FormalParameter"):
        examples = crate.targets(parameter, "workExample")
        assert examples
        assert all(ids(entity["exampleOfWork"]) == [parameter["@id"]] for entity in examples)


def test_a_list_of_one_is_the_one(crate: Crate) -> None:
    singles = [(e["@id"], k) for e in crate.graph for k, v in e.items() if isinstance(v, list) and len(v) < 2]
    assert not singles


def test_workflow_and_results_have_each_their_licence(crate: Crate) -> None:
    assert ids(crate.root["license"]) == [LICENSE]
    for entity in crate.of_type("File"):
        of_the_workflow = entity["@id"].startswith(("workflow/", "Snakefile", "LICENSE", "environment.yml"))
        assert ids(entity.get("license")) == ([WORKFLOW_LICENSE] if of_the_workflow else []), entity["@id"]
    assert all(crate.entity(url)["description"] for url in (LICENSE, WORKFLOW_LICENSE))
    declared = re.search(r'^license = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert declared is not None
    assert WORKFLOW_LICENSE.endswith(f"/{declared[1]}")


def test_nobody_is_named_unless_the_command_names_them(crate: Crate, results: Path, tmp_path: Path) -> None:
    assert not {"author", "publisher"} & set(crate.root)
    assert not {"Person", "Organization"} & {name for entity in crate.graph for name in types(entity)}
    named = ["--author", "{} <{}>".format(*AUTHOR), "--organization", "{} <{}>".format(*SOCIETY)]
    assert export(results, tmp_path / "named.crate.zip", *named) == 0
    of_ada = read(tmp_path / "named.crate.zip")
    person = {"@id": AUTHOR[1], "@type": "Person", "name": AUTHOR[0], "affiliation": {"@id": SOCIETY[1]}}
    assert of_ada.targets(of_ada.root, "author") == of_ada.targets(of_ada.entity("#run"), "agent") == [person]
    society = {"@id": SOCIETY[1], "@type": "Organization", "name": SOCIETY[0], "url": SOCIETY[1]}
    assert of_ada.targets(of_ada.root, "publisher") == [society]
    assert export(results, tmp_path / "society.crate.zip", *named[2:]) == 0
    of_all = read(tmp_path / "society.crate.zip")
    assert of_all.targets(of_all.entity("#run"), "agent") == [society]
    assert all(rule.holds(named_crate) for rule in RULES for named_crate in (of_ada, of_all))


def test_what_is_unpacked_verifies_and_its_page_leads_nowhere_else(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path)
        assert {info.external_attr >> 16 for info in archive.infolist()} == {0o644}
    unpacked = tmp_path / "results" / "small"
    assert run(["campaign", "verify", str(unpacked), "--sample", "2"]) == 0
    assert ": holds;" in capsys.readouterr().out
    page = (unpacked / "report.html").read_text()
    links = set(re.findall(r'href="([^"#]+)"', page))
    assert "timings.html" in links
    assert all((unpacked / link).is_file() for link in links)
    readme = (tmp_path / "README.md").read_text()
    root = json.loads((unpacked / "seal.json").read_text())["merkle_root"]
    assert root in readme
    assert "commcanary campaign verify results/small" in readme


def test_the_same_campaign_gives_the_same_bytes(path: Path, results: Path, tmp_path: Path) -> None:
    assert export(results, tmp_path / "again.zip") == 0
    assert (tmp_path / "again.zip").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--license", "CC-BY-4.0"], "--license CC-BY-4.0: give the licence's URL"),
        (["--author", "Ada Lovelace"], '--author Ada Lovelace: give "NAME <URL>"'),
        (["--author", "<https://example.org/ada>"], '--author <https://example.org/ada>: give "NAME <URL>"'),
        (["--organization", "Society <example.org>"], '--organization Society <example.org>: give "NAME <URL>"'),
        (["--author", f"Ada <{LICENSE}>"], "name one URL for two things"),
        (["-o", "crate.tar"], "the name must end in .zip"),
    ],
)
def test_what_cannot_be_described_is_refused(
    options: list[str], said: str, results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert export(results, tmp_path / "crate.zip", *options) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def seal_again(folder: Path, *paths: str) -> None:
    """A seal over ``paths`` as they are now, as whoever forges would write it."""
    manifest = read_artifact(folder / "manifest.json", MANIFEST)
    write_artifact(folder / "seal.json", SEALS, Stored(seal_of("small", manifest.content_id, folder, paths)))


def test_what_was_changed_after_the_seal_is_refused(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shutil.copytree(results, tmp_path / "small")
    with (folder / "tables" / "cells.csv").open("ab") as table:
        table.write(b"\n")
    assert export(folder, tmp_path / "out.zip") == 3
    assert "tables/cells.csv: is not the file that was sealed" in capsys.readouterr().err
    assert not (tmp_path / "out.zip").exists()


def test_another_workflow_than_the_one_that_ran_is_refused(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shutil.copytree(results, tmp_path / "small")
    ran = read_artifact(folder / "manifest.json", MANIFEST).header
    other = structs.replace(ran, code=structs.replace(ran.code, workflow="0" * 64))
    write_artifact(folder / "manifest.json", MANIFEST, Stored(other))
    seal_again(folder, *(file.path for file in read_artifact(folder / "seal.json", SEALS).header.files))
    assert export(folder, tmp_path / "out.zip") == 3
    assert "code.workflow: is that of CommCanary" in capsys.readouterr().err


def test_a_seal_without_the_manifest_is_refused(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shutil.copytree(results, tmp_path / "small")
    sealed = [file.path for file in read_artifact(folder / "seal.json", SEALS).header.files]
    seal_again(folder, *(path for path in sealed if path != "manifest.json"))
    assert export(folder, tmp_path / "out.zip") == 3
    assert "manifest.json: is not in the seal" in capsys.readouterr().err
