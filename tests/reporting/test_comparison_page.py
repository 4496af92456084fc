"""The page of one comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from commcanary.judge.comparison import (
    Comparison,
    Compatibility,
    Confidence,
    Evaluation,
    Interval,
    Mismatch,
    Side,
    Stability,
)
from commcanary.judge.thresholds import Thresholds
from commcanary.replay.configuration import NAMED
from commcanary.reporting.comparison_page import write_comparison_page

from .html import Page
from .test_report_page import HEADER

if TYPE_CHECKING:
    from pathlib import Path

LATENCY = Evaluation("p99", "run", None, 100.0, 140.4, 40.4, 40.4, 15.0, 1.0, None, "fail")
HIDDEN = Evaluation("communication_hidden_pct", "run", None, 34.0, 31.5, -2.5, None, None, None, 5.0, "pass")
GONE = Evaluation("row", "phase", "<b>warmup</b>", None, None, None, None, None, None, None, "gone")
COMPARISON = Comparison(
    verdict="fail",
    reasons=("p99 regression 40.4% exceeds 15.0%",),
    not_gated=("not gated: p95 +40.4 % (+0.3 us) is under the floor of 1 us",),
    thresholds=Thresholds(),
    compatibility=Compatibility("compatible"),
    baseline=Side("a" * 64, NAMED["baseline"], HEADER.metrics),
    candidate=Side("b" * 64, NAMED["congested"], HEADER.metrics),
    delta={},
    evaluations=(LATENCY, HIDDEN, GONE),
)


def shown(comparison: Comparison, tmp_path: Path) -> Page:
    write_comparison_page(comparison, tmp_path / "comparison.html")
    return Page((tmp_path / "comparison.html").read_text(encoding="utf-8"))


def test_it_says_the_verdict_why_and_with_which_numbers(tmp_path: Path) -> None:
    page = shown(COMPARISON, tmp_path)
    for words in (
        "congested against baseline Verdict: ✕ fail",
        "p99 regression 40.4% exceeds 15.0%",
        "not gated: p95",
        "bandwidth (Gbit/s) 55 28 changed",
        "the whole run p99 (us) ✕ fail 100.000 140.400 +40.4 % +40.400 us +15 % and 1 us",
        "hidden communication (%) ✓ pass 34.000 31.500 −2.500 points 5 points down",
        "phase <b>warmup</b> row (us) ▲ gone – – – none",
    ):
        assert words in page.text
    assert not page.links
    assert "interval" not in page.text.lower()


def test_intervals_instability_and_mismatches_are_shown(tmp_path: Path) -> None:
    interval = Interval(-1.0, 12.0, -1.0, 12.0, -16.0, -3.0)
    from_zero = msgspec.structs.replace(interval, low_pct=None, high_pct=None)
    comparison = msgspec.structs.replace(
        COMPARISON,
        verdict="unstable",
        evaluations=(
            msgspec.structs.replace(LATENCY, interval=interval),
            msgspec.structs.replace(LATENCY, baseline=0.0, relative_delta_pct=None, interval=from_zero),
            HIDDEN,
        ),
        compatibility=Compatibility("mismatch", (Mismatch("replay_protocol.seeds", "1", "2"),)),
        confidence=Confidence(0.95, 2000, 7, 12, 12, True),
        stability=(
            Stability("baseline", 12, 1.25, None, None, "stable"),
            Stability("candidate", 12, 31.5, 0.1, 0.002, "bimodal"),
        ),
    )
    text = shown(comparison, tmp_path).text
    for words in (
        "Verdict: ▲ unstable",
        "−1.0 % to +12.0 %",
        "from 0 +40.400 us +15 % and 1 us −1 to 12",
        "95 % bootstrap over whole runs, 2,000 resamples, seed 7; 12 runs against 12 runs, paired by seed",
        "baseline ✓ stable 12 1.25 –",
        "candidate ▲ bimodal 12 31.5 0.002",
        "replay_protocol.seeds: baseline 1, candidate 2",
    ):
        assert words in text
