"""The page and figures of an overlap document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from tests.timeline.timelines import K, calls, ranges, timeline

from commcanary.reporting.overlap_figures import overlap_figures, write_overlap_figures
from commcanary.reporting.overlap_page import write_overlap_page
from commcanary.timeline.alpha_beta import AlphaBeta
from commcanary.timeline.before_after import against
from commcanary.timeline.late_ranks import Meetings
from commcanary.timeline.measure import OverlapSettings, measure
from commcanary.timeline.transfer_baseline import TransferLaw

from .html import Page

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.timeline.overlap import Overlap

MS = 1_000_000


def measured(ranks: int = 2) -> Overlap:
    rows = [
        K(0, 4 * MS, phase=0),
        K(2 * MS, 7 * MS, "all_reduce", 1, 0, call=0),
        K(7 * MS, 8 * MS, "all_gather", 1, 1),
        K(9 * MS, 10 * MS, phase=1),
    ]
    each = [
        timeline(
            rows,
            rank=rank,
            world=3,
            calls=calls([("all_reduce", 1 << 20, 1, 0)]),
            steps=ranges(("ProfilerStep#1", 0, 10 * MS)),
            sites=("a <b> site", "fsdp"),
        )
        for rank in range(ranks)
    ]
    return measure(each, Meetings(unknown="clocks are apart"), OverlapSettings())


def page(overlap: Overlap, tmp_path: Path) -> Page:
    write_overlap_page(overlap, tmp_path / "o.html")
    return Page((tmp_path / "o.html").read_text(encoding="utf-8"))


def test_it_says_what_was_measured(tmp_path: Path) -> None:
    text = page(measured(), tmp_path).text
    for words in (
        "rank 1 device 0: 33.33 % of communication ran beside compute",
        "communication alone took 4.000 ms, 40.00 % of the span",
        "On all devices most time is communication only, and all reduce is exposed most",
        "No profile of 1 of 3 ranks: 2.",
        "a <b> site",
        "at most 4.000 ms would be saved (1.667× at most): an upper bound, not a prediction",
        "1,048,576 B (1.00 MiB) × 2",
        "algbw 0.21 GB/s median",
        "Unknown: clocks are apart",
    ):
        assert words in text, words


def test_it_is_one_file_that_loads_nothing(tmp_path: Path) -> None:
    found = page(measured(), tmp_path)
    assert all(link.startswith("#") for link in found.links)
    assert found.has_only_its_own_script
    assert not {name for name, _ in found.tags} & {"img", "link", "iframe", "object"}
    ids = [attributes["id"] for _, attributes in found.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in found.links} <= set(ids)
    assert len(found.all("svg")) == 4


def test_a_comparison_has_its_table(tmp_path: Path) -> None:
    overlap = measured()
    compared = msgspec.structs.replace(overlap, against=against(overlap, overlap, "b" * 64))
    text = page(compared, tmp_path).text
    assert "By complete step time: not separated" in text
    assert "median step time" in text


def test_nothing_to_draw_is_said(tmp_path: Path) -> None:
    nothing = measure([timeline([])], Meetings(unknown="one"), OverlapSettings())
    text = page(nothing, tmp_path).text
    assert "No communication call could be read" in text
    assert "No device computed or communicated in this window." in text


@pytest.mark.parametrize("name", ["parts", "phases", "exposed", "strip"])
def test_figures_are_the_same_bytes_and_described(tmp_path: Path, name: str) -> None:
    overlap = measured()
    data = overlap_figures(overlap)[name]
    assert data == overlap_figures(overlap)[name]
    write_overlap_figures(overlap, tmp_path)
    assert (tmp_path / f"{name}.svg").read_bytes() == data
    said = {
        "parts": "rank 0 device 0: compute only 30.00 %, both 20.00 %, communication only 40.00 %, neither 10.00 %",
        "phases": "backward all_reduce 6.000 of 10.000 ms",
        "exposed": "1,000 us to 10,000 us: 2 segments, 100.00 %",
        "strip": "ProfilerStep#1, 10.000 ms; busy: compute 50.00 %, all_reduce 50.00 %, all_gather 10.00 %",
    }
    assert said[name] in data.decode()


def test_who_waited_and_what_a_table_expected(tmp_path: Path) -> None:
    """60 us of compute, 40 us of a collective that queued compute waits for; the table says 25."""
    rows = [
        K(0, 60_000, launch=0),
        K(60_000, 100_000, "all_reduce", launch=1, call=0),
        K(101_000, 120_000, launch=2),
    ]
    law = TransferLaw("run.log", "all_reduce", 4, AlphaBeta(5.0, 0.05), 1.5)
    made = timeline(rows, calls=calls([("all_reduce", 1000, 1, -1)]))
    text = page(measure([made], Meetings(unknown="one profile"), OverlapSettings(laws=(law,))), tmp_path).text
    assert "Queued compute waited 0.040 ms for collectives" in text
    assert "0.041 ms without compute, each moment in one class" in text
    assert "takes 5.000 us + bytes / 0.05 GB/s alone" in text
    assert "late ranks: arrivals of the ranks are not known on one clock" in text
