"""How long a campaign took stands on a page of its own."""

from __future__ import annotations

from pathlib import Path

from commcanary.reporting.timings_page import write_timings_page

from .campaigns import write_campaign
from .html import Page


def page(folder: Path) -> Page:
    write_timings_page(folder, folder / "timings.html")
    return Page((folder / "timings.html").read_text(encoding="utf-8"))


def test_durations_are_said(tmp_path: Path) -> None:
    write_campaign(tmp_path)
    assert "No benchmark file of a job was found." in page(tmp_path).text
    benchmark = tmp_path / "benchmarks" / "replay" / "training.canary.0.tsv"
    benchmark.parent.mkdir(parents=True)
    benchmark.write_text("s\th:m:s\tmax_rss\n12.5\t0:00:12\t150.4\n")
    (benchmark.parent / "removed.canary.0.tsv").write_text("s\n99.0\n")
    found = page(tmp_path)
    assert "1 job took 12.5 s of job time" in found.text
    assert "replay training.canary.0 12.5 s 150" in found.text
    assert found.links == ["report.html"]
