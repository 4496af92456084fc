"""Pages of campaigns that ran, and the one over all of them: every link leads to a file that is there."""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import unquote

import pytest
from tests.reporting.html import Page

from .runs import run


@pytest.fixture(scope="module")
def results(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sealed campaigns, and the page over both by the workflow's own target."""
    folder = Path(shutil.copytree(finished, tmp_path_factory.mktemp("pages") / "copy"))
    shutil.copytree(folder / "results" / "tiny", folder / "results" / "again")
    assert run(folder, "report") == (0, ["report"])
    return folder / "results"


@pytest.mark.parametrize("name", ["index.html", "tiny/report.html", "tiny/timings.html"])
def test_every_link_leads_to_a_file_or_a_place_and_nothing_is_loaded(name: str, results: Path) -> None:
    page = Page((results / name).read_text(encoding="utf-8"))
    ids = {attributes.get("id") for _, attributes in page.tags}
    assert page.links
    for link in page.links:
        path, _, place = link.partition("#")
        assert not path or (results / name).parent.joinpath(unquote(path)).is_file(), link
        assert not place or place in ids, link
    assert not {"img", "image", "link", "object", "embed", "iframe", "base"} & {tag for tag, _ in page.tags}
    loading = ("src", "srcset", "poster", "data", "action")
    assert not [tag for tag, attributes in page.tags if any(attributes.get(key) for key in loading)]
    assert page.has_only_its_own_script
    assert len(page.all("svg")) == (5 if name == "tiny/report.html" else 0)


def test_both_campaigns_are_on_the_page_with_every_sealed_file(results: Path) -> None:
    page = Page((results / "index.html").read_text(encoding="utf-8"))
    assert "2 sealed campaigns" in page.text
    for campaign in ("again", "tiny"):
        sealed = [line.split("  ", 1)[1] for line in (results / campaign / "seal.sha256").read_text().splitlines()]
        assert {f"{campaign}/{path}" for path in sealed} <= set(page.links)
