"""The crate is what the Workflow Run RO-Crate profile asks for, read from its text and checked by hand."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commcanary.cli.main import run
from commcanary.stages.seal import seal_stage

from .campaigns import make_campaign, write_config

LICENSE = "https://www.apache.org/licenses/LICENSE-2.0"


@pytest.fixture(scope="module")
def crate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crate")
    make_campaign(folder / "small", write_config(folder))
    seal_stage(folder / "small")
    path = folder / "crate.zip"
    assert run(["campaign", "export-crate", str(folder / "small"), "-o", str(path), "--license", LICENSE]) == 0
    return path


@pytest.fixture(scope="module")
def entities(crate: Path) -> dict[str, Any]:
    with zipfile.ZipFile(crate) as archive:
        document = json.loads(archive.read("ro-crate-metadata.json"))
    assert document["@context"][0] == "https://w3id.org/ro/crate/1.1/context"
    graph = {entity["@id"]: entity for entity in document["@graph"]}
    assert len(graph) == len(document["@graph"])
    return graph


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if set(value) == {"@id"}:
            yield value["@id"]
        for inner in value.values():
            yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def ids(value: Any) -> list[str]:
    return [entity["@id"] for entity in (value if isinstance(value, list) else [value])]


def test_the_descriptor_is_about_the_root_and_names_both_specifications(entities: dict[str, Any]) -> None:
    descriptor = entities["ro-crate-metadata.json"]
    assert descriptor["about"] == {"@id": "./"}
    assert ids(descriptor["conformsTo"])[0] == "https://w3id.org/ro/crate/1.1"
    root = entities["./"]
    assert {"name", "description", "datePublished", "license"} <= set(root)
    assert {"https://w3id.org/ro/wfrun/process/0.5", "https://w3id.org/ro/wfrun/workflow/0.5"} <= set(
        ids(root["conformsTo"])
    )
    assert all(entities[i]["@type"] == "CreativeWork" and entities[i]["version"] for i in ids(root["conformsTo"]))


def test_every_reference_leads_somewhere(entities: dict[str, Any]) -> None:
    loose = {i for entity in entities.values() for i in references(list(entity.values())) if i not in entities}
    assert all(i.startswith(("https://", "http://")) for i in loose), loose


def test_the_root_lists_every_file_of_the_archive_and_no_other(crate: Path, entities: dict[str, Any]) -> None:
    with zipfile.ZipFile(crate) as archive:
        names = set(archive.namelist())
    assert set(ids(entities["./"]["hasPart"])) == names - {"ro-crate-metadata.json"}
    assert {"Snakefile", "workflow/rules/replay.smk", "seal.json", "report.html"} <= names


def test_sizes_and_digests_are_those_of_the_files(crate: Path, entities: dict[str, Any]) -> None:
    checked = 0
    with zipfile.ZipFile(crate) as archive:
        for name in set(archive.namelist()) - {"Snakefile"}:
            if "sha256" in entities[name]:
                data = archive.read(name)
                assert entities[name]["sha256"] == hashlib.sha256(data).hexdigest()
                assert entities[name]["contentSize"] == str(len(data))
                checked += 1
    assert checked > 30


def test_the_action_ran_the_workflow_on_the_inputs(entities: dict[str, Any]) -> None:
    workflow = entities[entities["./"]["mainEntity"]["@id"]]
    assert workflow["@type"] == ["File", "SoftwareSourceCode", "ComputationalWorkflow"]
    assert entities[workflow["programmingLanguage"]["@id"]]["@type"] == "ComputerLanguage"
    action = entities[entities["./"]["mentions"]["@id"]]
    assert action["@type"] == "CreateAction"
    assert action["instrument"] == {"@id": workflow["@id"]}
    assert action["startTime"] <= action["endTime"]
    assert "manifest.json" in ids(action["object"])
    assert "tables/cells.csv" in ids(action["result"])
    assert not set(ids(action["object"])) & set(ids(action["result"]))


def test_parameters_and_their_examples_name_each_other(entities: dict[str, Any]) -> None:
    workflow = entities["Snakefile"]
    for parameter in (entities[workflow["input"]["@id"]], entities[workflow["output"]["@id"]]):
        assert parameter["@type"] == "FormalParameter"
        assert parameter["additionalType"] == "File"
        assert parameter["workExample"]
        for example in ids(parameter["workExample"]):
            assert entities[example]["exampleOfWork"] == {"@id": parameter["@id"]}


def test_the_same_campaign_gives_the_same_bytes(crate: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.zip"
    results = str(crate.parent / "small")
    assert run(["campaign", "export-crate", results, "-o", str(again), "--license", LICENSE]) == 0
    assert again.read_bytes() == crate.read_bytes()


def test_what_was_changed_after_the_seal_is_refused(
    crate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = crate.parent / "small" / "tables" / "cells.csv"
    good = table.read_bytes()
    table.write_bytes(good + b"\n")
    out = tmp_path / "out.zip"
    results = str(crate.parent / "small")
    assert run(["campaign", "export-crate", results, "-o", str(out), "--license", LICENSE]) == 3
    assert "tables/cells.csv: is not the file that was sealed" in capsys.readouterr().err
    assert not out.exists()
    table.write_bytes(good)
    assert run(["campaign", "export-crate", results, "-o", str(tmp_path / "out.tar"), "--license", LICENSE]) == 2
