"""Exposed latency: three statistics, and an axis that fits their spread."""

from __future__ import annotations

import pytest

from commcanary.reporting.drawing import Drawing, house_style
from commcanary.reporting.drawings.choice import LIMIT
from commcanary.reporting.drawings.latency import draw_latency

from ..rows import Row, cell_row, cells


def draw(rows: list[Row]) -> Drawing:
    with house_style():
        return draw_latency(cells(rows))


@pytest.mark.parametrize(
    ("median", "p95", "p99", "scale", "label"),
    [
        (10.0, 30.0, 90.0, "linear", "exposed latency (us)"),
        (10.0, 30.0, 9000.0, "log", "exposed latency (us, log scale)"),
        (0.0, 0.0, 0.0, "linear", "exposed latency (us)"),
        (0.0, 3000.0, 9000.0, "linear", "exposed latency (us)"),
        (0.0, 30.0, 9000.0, "symlog", "exposed latency (us, log scale from 1)"),
    ],
)
def test_the_axis_follows_the_spread_and_says_so(median: float, p95: float, p99: float, scale: str, label: str) -> None:
    drawing = draw([cell_row("w", "canary", "baseline", median, p95_us=p95, p99_us=p99)])
    (axes,) = [axes for axes in drawing.figure.axes if axes.axison]
    assert (axes.get_xscale(), axes.get_xlabel()) == (scale, label)
    low, high = axes.get_xlim()
    assert low <= median <= p99 <= high


def test_only_canaries_are_drawn_and_described() -> None:
    drawing = draw([cell_row("w", "canary", "baseline", 10.0), cell_row("w", "isolated", "baseline", 1.0)])
    assert drawing.description == "w, median, p95 and p99 in us: baseline 10.000, 20.000, 30.000."


def test_without_a_canary_it_says_so() -> None:
    assert "as a canary" in draw([cell_row("w", "isolated", "baseline", 1.0)]).description


def test_of_very_many_configurations_the_slowest_are_shown_and_that_is_said() -> None:
    rows = [cell_row("w", "canary", f"c{i}", 10.0 + i % 50) for i in range(50)]
    drawing = draw(rows)
    (title,) = [t.get_text() for t in drawing.figure.texts if t.get_text().startswith("w")]
    assert title == f"w (the {LIMIT} largest of 50)"
    shown = {t.get_text() for t in drawing.figure.texts}
    assert "c49" in shown
    assert "c0" not in shown
    assert "c0 10.000" in drawing.description
