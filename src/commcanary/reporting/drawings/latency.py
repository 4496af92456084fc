"""Exposed latency of the canary: median, p95 and p99 per workload and configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.reporting.drawing import INK, MUTED, PALE, STRONG, Drawing, Sheet, message, rows_down
from commcanary.reporting.drawings.choice import most
from commcanary.reporting.tables import CANARY, groups_of
from commcanary.reporting.words import latency, number, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from commcanary.reporting.tables import CellGroup, CellRow

TITLE = "Exposed latency per configuration"
STATISTICS = (("median_us", "median", "o", STRONG), ("p95_us", "p95", "s", MUTED), ("p99_us", "p99", "D", INK))
LOG_FROM = 30.0
"""Largest over smallest value from which a linear axis would squeeze the small ones."""
_LEGEND, _HEAD, _ROW, _FOOT = 0.35, 0.42, 0.27, 0.62
_LABELS, _VALUES = 2.35, 0.95


def draw_latency(cells: Sequence[CellRow]) -> Drawing:
    """One panel per canary; the slowest ``choice.LIMIT`` configurations where there are more."""
    groups = groups_of(cells, CANARY)
    if not groups:
        return message(TITLE, ("No workload of this campaign was replayed as a canary.",))
    shown = [(group, *most(group.cells, lambda cell: cell.p99_us)) for group in groups]
    heights = [_HEAD + _ROW * len(rows) + _FOOT for _, rows, _ in shown]
    sheet = Sheet(_LEGEND + sum(heights))
    _legend(sheet)
    for index, (group, rows, note) in enumerate(shown):
        _panel(sheet, _LEGEND + sum(heights[:index]), group, rows, note)
    return Drawing(sheet.figure, TITLE, " ".join(_described(group) for group in groups))


def _panel(sheet: Sheet, top: float, group: CellGroup, rows: Sequence[CellRow], note: str) -> None:
    sheet.text(0.1, top + 0.25, shortened(group.title, 60) + note, size=10, weight="bold")
    sheet.text(sheet.width - 0.1, top + 0.25, "p99 (us)", size=8, color=MUTED, align="right")
    axes = sheet.axes(_LABELS, top + _HEAD, sheet.width - _LABELS - _VALUES, _ROW * len(rows))
    for row, cell in enumerate(rows):
        low, high = min(cell.median_us, cell.p99_us), max(cell.median_us, cell.p99_us)
        axes.plot([low, high], [row, row], color=PALE, linewidth=3, solid_capstyle="round", zorder=1)
        for name, _, marker, color in STATISTICS:
            axes.plot(getattr(cell, name), row, marker=marker, color=color, markersize=5, zorder=2)
        line, weight = top + _HEAD + _ROW * (row + 0.5) + 0.04, "bold" if cell.is_baseline else "normal"
        sheet.text(0.1, line, shortened(cell.configuration, 27), weight=weight)
        sheet.text(sheet.width - 0.1, line, latency(cell.p99_us), size=8.5, align="right")
    rows_down(axes, len(rows))
    axes.set_xlabel(f"exposed latency (us{_scale(axes, rows)})")
    axes.xaxis.set_major_formatter(lambda value, _: number(value))
    axes.grid(axis="x")


def _scale(axes: Axes, rows: Sequence[CellRow]) -> str:
    """Choose the axis by the spread of the values, and return what its label must say about it."""
    values = [getattr(cell, name) for cell in rows for name, *_ in STATISTICS]
    low, high = min(values), max(values)
    positive = [value for value in values if value > 0]
    if not positive or high / min(positive) <= LOG_FROM:
        axes.set_xlim(0, high * 1.05 or 1)
        axes.locator_params(axis="x", nbins=6)
        return ""
    if low > 0:
        axes.set_xscale("log")
        axes.set_xlim(low / 1.5, high * 1.5)
    else:
        axes.set_xscale("symlog", linthresh=1.0)
        axes.set_xlim(0, high * 1.5)
    axes.minorticks_off()
    return ", log scale" if low > 0 else ", log scale from 1"


def _legend(sheet: Sheet) -> None:
    axes = sheet.axes(_LABELS, 0.02, sheet.width - _LABELS - 0.1, 0.3)
    for index, (_, label, marker, color) in enumerate(STATISTICS):
        axes.plot(index * 0.18 + 0.01, 0.45, marker=marker, color=color, markersize=5)
        axes.text(index * 0.18 + 0.035, 0.45, label, va="center", fontsize=8.5)
    axes.text(0.6, 0.45, "bold name: baseline", va="center", fontsize=8.5, color=MUTED)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_axis_off()


def _described(group: CellGroup) -> str:
    parts = (f"{c.configuration} {latency(c.median_us)}, {latency(c.p95_us)}, {latency(c.p99_us)}" for c in group.cells)
    return f"{group.title}, median, p95 and p99 in us: {'; '.join(parts)}."
