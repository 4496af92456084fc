"""Where source files lie is no part of what a campaign is made from; what they are called and hold is."""

from __future__ import annotations

import json
import typing
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from commcanary.artifacts.canonical import canonical_json
from commcanary.campaign.manifest import Manifest, manifest_of, plan_of
from commcanary.campaign.plan import Plan
from commcanary.campaign.restated import contradictions
from commcanary.campaign.workload_sources import Source, files_of

from .test_names import config

NEEDED: dict[str, dict[str, Any]] = {
    "synth": {"name": "mixed"},
    "trace": {"path": "a.json"},
    "kineto": {"profiles": ["a.json", "b.json"]},
    "nsys": {"exports": ["a.sqlite", "b.sqlite"]},
    "chakra": {"traces": ["a.json", "b.json"], "groups": "g.json"},
    "flight-recorder": {"dumps": ["a.0", "b.1"]},
    "nccl-inspector": {"records": ["a.log", "b.log"]},
    "nccl-log": {"logs": ["a.log", "b.log"]},
    "capture": {"command": ["python", "train.py"]},
}
STUDY = {"compute": ["a.json"], "communication": ["b.json"], "overlapped": ["c.json"], "correctness": "d.json"}


def in_folder(value: Any, folder: str) -> Any:
    """The names of files in ``value`` (those with a dot), in ``folder``."""
    if isinstance(value, str):
        return f"{folder}/{value}" if "." in value else value
    if isinstance(value, list):
        return [in_folder(inner, folder) for inner in value]
    return {key: in_folder(inner, folder) for key, inner in value.items()}


def named(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value] if "." in value else []
    return [name for inner in (value.values() if isinstance(value, dict) else value) for name in named(inner)]


def campaign(root: Path, folder: str, document: dict[str, Any], content: str = "{}") -> Manifest:
    for name in named(document):
        path = root / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{content} {name}")
    moved = in_folder(document, folder)
    entry = {"name": "entry", **moved}
    source = moved if "kind" in moved else {"kind": "synth", "name": "mixed"}
    whole = {**config(), "workloads": [{"name": "w", "source": source}]}
    if "overlapped" in moved:
        whole["overlap_studies"] = [entry]
    if moved.get("kind") == "kineto":
        whole["overlap"] = [{"name": "entry", "source": moved}]
        whole["reconcile"] = [{"name": "both", "workloads": ["w", "again"]}]
        whole["workloads"].append({"name": "again", "source": source})
    (root / "c.yaml").write_text(yaml.safe_dump(whole))
    return manifest_of(Plan.load(root / "c.yaml"))


def test_every_kind_of_source_is_tried() -> None:
    assert set(NEEDED) == {kind.__struct_config__.tag for kind in typing.get_args(Source)}
    for kind, keys in NEEDED.items():
        source = msgspec.convert({"kind": kind, **keys}, Source)  # type: ignore[arg-type]
        listing = [name for name in named(keys) if kind != "capture"]
        assert list(files_of(source).values()) == listing


DOCUMENTS: dict[str, dict[str, Any]] = {
    **{kind: {"kind": kind, **keys} for kind, keys in NEEDED.items() if kind not in ("synth", "capture")},
    "study": STUDY,
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_moved_files_change_nothing_in_the_manifest(tmp_path: Path, name: str) -> None:
    here = campaign(tmp_path, "here", DOCUMENTS[name])
    there = campaign(tmp_path, "some/where else", DOCUMENTS[name])
    absolute = campaign(tmp_path, str(tmp_path / "absolute"), DOCUMENTS[name])
    text = canonical_json(here).decode()
    assert canonical_json(there).decode() == text
    assert canonical_json(absolute).decode() == text
    assert "here/" not in text
    assert str(tmp_path) not in text
    assert {file.name for file in here.inputs} == set(named(DOCUMENTS[name]))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_plan_of_such_a_manifest_agrees_with_it(tmp_path: Path, name: str) -> None:
    manifest = campaign(tmp_path, "here", DOCUMENTS[name])
    assert list(contradictions(manifest, plan_of(manifest, tmp_path / "no such folder"))) == []


@pytest.mark.parametrize("name", [name for name in DOCUMENTS if name != "study"])
def test_other_content_or_another_name_makes_other_cells(tmp_path: Path, name: str) -> None:
    cells = campaign(tmp_path, "here", DOCUMENTS[name]).cells
    assert campaign(tmp_path, "here", DOCUMENTS[name], content="[]").cells != cells
    renamed = json.loads(json.dumps(DOCUMENTS[name]).replace("a.", "other."))
    assert campaign(tmp_path, "here", renamed).cells != cells
