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

from .campaigns import CONFIG, write_campaign
from .html import Page


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


def test_a_folder_without_a_sealed_campaign_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageRefusal, match="no sealed campaign"):
        write_index_page(tmp_path, tmp_path / "index.html")
