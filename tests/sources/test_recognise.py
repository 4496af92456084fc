"""Files are told apart by how they begin."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from commcanary.sources.recognise import source_of
from commcanary.sources.registry import SOURCES

from .test_every_source import ROOT, SAMPLES


@pytest.mark.parametrize("name", sorted(set(SAMPLES) - {"capture"}))
def test_every_sample(name: str) -> None:
    assert {source_of(path) for path in SAMPLES[name]} == {name}


def test_the_files_of_one_job() -> None:
    folder = ROOT / "resources" / "one_job"
    found = {path.name: source_of(path) for path in folder.iterdir() if path.suffix in (".json", ".gz")}
    assert found == {
        "rank0.pt.trace.json.gz": "kineto",
        "rank1.pt.trace.json.gz": "kineto",
        "et_rank0.json.gz": "chakra",
        "et_rank1.json.gz": "chakra",
        "fr_rank0.json": "flight-recorder",
        "fr_rank1.json": "flight-recorder",
    }
    assert set(found.values()) <= SOURCES.keys()


def test_every_real_file(shared_traces: Path) -> None:
    folders = {
        "kineto": "kineto",
        "et": "chakra",
        "chakra": "chakra",
        "flight_recorder": "flight-recorder",
        "nsys": "nsys",
    }
    wrong = [
        str(path)
        for folder, kind in folders.items()
        for path in (shared_traces / folder).rglob("*")
        if path.is_file() and source_of(path) != kind
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (pickle.dumps({}), "flight-recorder"),
        (b"", "kineto"),
        (b"\x1f\x8b\x08", "kineto"),
        (b"[]", "kineto"),
        (b"\xff", "kineto"),
    ],
)
def test_others(tmp_path: Path, content: bytes, kind: str) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(content)
    assert source_of(path) == kind
