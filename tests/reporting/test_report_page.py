"""The page of one report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from commcanary.replay.configuration import NAMED
from commcanary.replay.metrics import Calibration, ExposedMetrics, LatencySummary, NamedSummary
from commcanary.replay.report import CanaryIdentity, CanarySummary, ModelIdentity, ReplayProtocol, ReportHeader
from commcanary.replay.schedule_summary import CriticalPath, PathPart, RunSchedule, ScheduleSummary
from commcanary.reporting.report_page import write_report_page

from .html import Page

if TYPE_CHECKING:
    from pathlib import Path

SUMMARY = {
    "count": 100,
    "median_us": 90.388,
    "p95_us": 176.071,
    "p99_us": 2586.316,
    "max_us": 2671.94,
    "mean_us": 180.885,
}
HEADER = ReportHeader(
    canary=CanaryIdentity("abcdef0123456789" * 4, 100),
    simulation_model=ModelIdentity("scheduler-v4", "4"),
    replay_protocol=ReplayProtocol((7, 8), 3, ("noise",), "linear"),
    backend=NAMED["congested"],
    workload={"name": "tp8"},
    canary_summary=CanarySummary(100, 4, 4, 3608, 1412, "lossless_timing", "full_source", "f" * 64, {}),
    assumptions={"compute_overlap_us": 0.0},
    metrics=ExposedMetrics(
        **SUMMARY,
        communication_hidden_pct=3.39,
        arrival_skew_median_us=3.631,
        arrival_skew_p95_us=9.971,
        arrival_skew_max_us=145.69,
        avg_rank_wait_median_us=2.346,
    ),
    queue_wait=LatencySummary(**SUMMARY),
    by_phase=(NamedSummary("decode", **SUMMARY),),
    by_op=(NamedSummary("all_reduce", **SUMMARY),),
    calibration=None,
    samples_digest="0" * 64,
)


def shown(header: ReportHeader, tmp_path: Path) -> Page:
    write_report_page(header, tmp_path / "report.html")
    return Page((tmp_path / "report.html").read_text(encoding="utf-8"))


def test_it_says_what_was_replayed_and_what_came_out(tmp_path: Path) -> None:
    text = shown(HEADER, tmp_path).text
    for words in (
        "tp8 under congested",
        "100 events, content id abcdef012345",
        "seeds 7, 8; 3 iterations per seed; without noise",
        "compute_overlap_us = 0",
        "bandwidth (Gbit/s) 28",
        "exposed latency 100 90.388 176.071 2,586.316 2,671.940 180.885",
        "decode 100 90.388",
        "all_reduce 100 90.388",
        "3.39 %",
        "no observed latency that this replay could be held against",
    ):
        assert words in text


@pytest.mark.parametrize(
    ("percentage", "words"), [(12.5, "12.50 % over 90 samples"), (None, "none: no observed latency")]
)
def test_calibration_is_shown_where_there_is_one(tmp_path: Path, percentage: float | None, words: str) -> None:
    calibration = Calibration(100, 1.5, 1.0, 4.0, 9.0, -0.25, percentage, 90)
    text = shown(msgspec.structs.replace(HEADER, calibration=calibration), tmp_path).text
    assert "mean 1.500 us, median 1.000 us, p95 4.000 us, max 9.000 us" in text
    assert "−0.250 us" in text
    assert words in text


def test_a_schedule_is_shown_where_there_is_one(tmp_path: Path) -> None:
    path = CriticalPath(
        3, (PathPart(1, "compute", 1, 60.0, 60.0), PathPart(0, "communication", 2, 20.0, 15.5)), (), "e" * 64
    )
    run = RunSchedule(80.0, (20.0, 60.0), (60.0, 12.0), (0.0, 8.0), path)
    schedule = ScheduleSummary((0, 1), (run, msgspec.structs.replace(run, makespan_us=90.0)))
    text = shown(msgspec.structs.replace(HEADER, schedule=schedule), tmp_path).text
    for words in (
        "Makespan 85.000 us, the median of 2 runs",
        "which takes 80.000 us",
        "0 25.00 75.00 0.00",
        "1 75.00 15.00 10.00",
        "3 segments that add up to the makespan",
        "rank 1 compute 1 60.000 75.00 60.000",
        "rank 0 communication 2 20.000 25.00 15.500",
    ):
        assert words in text
    assert "Makespan" not in shown(HEADER, tmp_path).text


def test_a_hostile_workload_stays_text_and_the_page_stands_alone(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    page = shown(msgspec.structs.replace(HEADER, workload={"name": evil}), tmp_path)
    assert evil in page.text
    assert page.has_only_its_own_script
    assert not page.links
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "http:" not in text
    assert "https:" not in text


def test_a_workload_without_a_name(tmp_path: Path) -> None:
    page = shown(msgspec.structs.replace(HEADER, workload={}), tmp_path)
    assert "a workload without a name under congested" in page.text
