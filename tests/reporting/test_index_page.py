"""One page over several sealed campaigns, with a link to each file of each."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from commcanary.artifacts.files import read_artifact, write_artifact
from commcanary.artifacts.stored import Stored
from commcanary.campaign.layout import own_files
from commcanary.campaign.manifest import MANIFEST
from commcanary.campaign.seal import SEALS, seal_of
from commcanary.errors import StorageRefusal
from commcanary.reporting.index_page import write_index_page

from .campaigns import CELL_ROWS, CONFIG, EXPORT_ROWS, write_campaign
from .html import Page
from .rows import calibration_row, representation_row, write_tables


def sealed(folder: Path, title: str) -> Path:
    write_campaign(folder, copy.deepcopy(CONFIG) | {"title": title})
    manifest = read_artifact(folder / "manifest.json", MANIFEST).content_id
    write_artifact(folder / "seal.json", SEALS, Stored(seal_of("small", manifest, folder, own_files(folder))))
    return folder


def test_every_sealed_campaign_has_its_rows_and_every_file_its_link(tmp_path: Path) -> None:
    first, second = sealed(tmp_path / "one", "First"), sealed(tmp_path / "two", "<b>Second</b>")
    write_campaign(tmp_path / "unsealed")
    write_index_page(tmp_path, tmp_path / "index.html")
    page = Page((tmp_path / "index.html").read_text(encoding="utf-8"))
    assert "2 sealed campaigns" in page.text
    assert "<b>Second</b>" in page.text
    assert "unsealed" not in page.text
    for folder in (first, second):
        files = [file.path for file in read_artifact(folder / "seal.json", SEALS).header.files]
        assert {f"{folder.name}/{path}" for path in files} <= set(page.links)
    assert "ranking-inversion as isolated" in page.text
    assert page.has_only_its_own_script
    assert not [link for link in page.links if ":" in link]


def test_what_was_expected_is_counted_with_its_gates_and_what_came_out_otherwise_is_named(tmp_path: Path) -> None:
    sealed(tmp_path / "one", "One")
    gates = [
        calibration_row("training", "verify", outcome="trusted", expected_outcome="trusted"),
        calibration_row("ranking-inversion", "verify", outcome="not_trusted", expected_outcome="trusted"),
    ]
    silent = [representation_row("training", "canary", "behaviorally_verified", expected_status=None)]
    as_declared = [representation_row("training", "canary", "failed", expected_status="failed")]
    write_tables(sealed(tmp_path / "gates", "Gates"), CELL_ROWS, silent, EXPORT_ROWS, calibration_rows=gates)
    write_tables(sealed(tmp_path / "silent", "Silent"), CELL_ROWS, silent, EXPORT_ROWS)
    write_tables(sealed(tmp_path / "met", "Met"), CELL_ROWS, as_declared, EXPORT_ROWS, calibration_rows=gates[:1])
    write_index_page(tmp_path, tmp_path / "index.html")
    text = Page((tmp_path / "index.html").read_text(encoding="utf-8")).text
    said = {
        name: text.partition(f"{name.capitalize()} ")[2].partition("timings")[0] for name in ("gates", "silent", "met")
    }
    assert "gate of ranking-inversion as canary" in said["gates"]
    assert "gate of training" not in said["gates"]
    assert "1 gate trusted" in said["gates"]
    assert "1 gate not trusted" in said["gates"]
    assert "nothing expected" in said["silent"]
    assert "gate " not in said["silent"]
    assert "none of 2" in said["met"]


def test_a_campaign_that_cannot_be_read_is_named_and_the_others_are_shown(tmp_path: Path) -> None:
    sealed(tmp_path / "one", "First")
    (sealed(tmp_path / "two", "Second") / "tables" / "representations.parquet").unlink()
    other = sealed(tmp_path / "three", "Third") / "seal.json"
    other.write_bytes(other.read_bytes().replace(b'"campaign"', b'"campaing"'))
    write_index_page(tmp_path, tmp_path / "index.html")
    text = Page((tmp_path / "index.html").read_text(encoding="utf-8")).text
    assert "1 sealed campaign." in text
    not_read = text.partition("Not read")[2].partition("Representations of all")[0]
    assert "two: " in not_read
    assert "two: two/tables/representations.parquet: cannot be read (No such file or directory)" in not_read
    assert "three: three/seal.json: " in not_read
    assert str(tmp_path) not in text


def test_a_campaign_that_was_changed_since_its_seal_is_not_shown_as_sealed(tmp_path: Path) -> None:
    sealed(tmp_path / "one", "First")
    write_campaign(sealed(tmp_path / "two", "Second"), copy.deepcopy(CONFIG) | {"title": "Third"})
    write_index_page(tmp_path, tmp_path / "index.html")
    text = Page((tmp_path / "index.html").read_text(encoding="utf-8")).text
    assert "1 sealed campaign." in text
    assert "two: two/seal.json: is of an earlier manifest" in text
    assert "Third" not in text


def test_a_folder_without_a_sealed_campaign_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageRefusal, match="no sealed campaign"):
        write_index_page(tmp_path, tmp_path / "index.html")
