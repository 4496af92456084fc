"""What became slower: change against the baseline per configuration, with the verdict as a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.reporting.drawing import INK, MUTED, TONE_COLOURS, Drawing, Sheet, message, rows_down
from commcanary.reporting.drawings.choice import most
from commcanary.reporting.tables import CANARY, groups_of
from commcanary.reporting.words import change, in_words, shortened, tone_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from commcanary.reporting.tables import CellGroup, CellRow

TITLE = "Change against the baseline"
_LEGEND, _HEAD, _ROW, _FOOT = 0.35, 0.42, 0.29, 0.62
_LABELS, _VALUES = 2.35, 1.9
_LEAST_SPAN = 5.0
"""Percent on both sides of 0 that an axis shows at least: a tiny change shall look tiny."""


def draw_regressions(cells: Sequence[CellRow]) -> Drawing:
    """One panel per canary whose configurations were compared; bars are p99, diamonds medians."""
    compared = [(group, tuple(c for c in group.cells if not c.is_baseline)) for group in groups_of(cells, CANARY)]
    compared = [(group, rows) for group, rows in compared if rows]
    if not compared:
        return message(TITLE, ("Only the baseline was run: there is nothing to compare it with.",))
    shown = [(group, *most(rows, lambda cell: abs(cell.p99_delta_pct or 0.0))) for group, rows in compared]
    heights = [_HEAD + _ROW * len(rows) + _FOOT for _, rows, _ in shown]
    sheet = Sheet(_LEGEND + sum(heights))
    _legend(sheet)
    for number, (group, rows, note) in enumerate(shown):
        _panel(sheet, _LEGEND + sum(heights[:number]), group, rows, note)
    return Drawing(sheet.figure, TITLE, " ".join(_described(group, rows) for group, rows in compared))


def _panel(sheet: Sheet, top: float, group: CellGroup, rows: Sequence[CellRow], note: str) -> None:
    sheet.text(0.1, top + 0.25, shortened(group.title, 55) + note, size=10, weight="bold")
    for right, label in ((1.15, "p99"), (0.1, "verdict")):
        sheet.text(sheet.width - right, top + 0.25, label, size=8, color=MUTED, align="right")
    axes = sheet.axes(_LABELS, top + _HEAD, sheet.width - _LABELS - _VALUES, _ROW * len(rows))
    for row, cell in enumerate(rows):
        tone = tone_of(cell.verdict)
        color, line = TONE_COLOURS[tone], top + _HEAD + _ROW * (row + 0.5) + 0.04
        if cell.p99_delta_pct is not None:
            axes.barh(row, cell.p99_delta_pct, height=0.55, color=color)
        if cell.median_delta_pct is not None:
            axes.plot(cell.median_delta_pct, row, marker="D", color="white", markeredgecolor=INK, markersize=4.5)
        sheet.text(0.1, line, shortened(cell.configuration, 29))
        sheet.text(sheet.width - 1.15, line, change(cell.p99_delta_pct), size=8.5, align="right")
        sheet.text(sheet.width - 0.1, line, _verdict(cell), size=8.5, weight="bold", color=color, align="right")
    rows_down(axes, len(rows))
    _limits(axes, rows)
    axes.axvline(0, color=INK, linewidth=1)
    axes.grid(axis="x")
    axes.set_xlabel(f"change of exposed latency against {shortened(group.cells[0].baseline, 30)} (%)")


def _limits(axes: Axes, rows: Sequence[CellRow]) -> None:
    values = [v for cell in rows for v in (cell.p99_delta_pct, cell.median_delta_pct) if v is not None]
    low, high = min([-_LEAST_SPAN, *values]), max([_LEAST_SPAN, *values])
    margin = 0.06 * (high - low)
    axes.set_xlim(low - margin, high + margin)
    axes.locator_params(axis="x", nbins=6)


def _verdict(cell: CellRow) -> str:
    return f"{tone_of(cell.verdict).mark} {in_words(cell.verdict)}" if cell.verdict else "not compared"


def _legend(sheet: Sheet) -> None:
    axes = sheet.axes(_LABELS, 0.02, sheet.width - _LABELS - 0.1, 0.3)
    axes.barh(0.45, 0.05, left=0.005, height=0.35, color=MUTED)
    axes.text(0.07, 0.45, "p99, coloured by verdict", va="center", fontsize=8.5)
    axes.plot(0.45, 0.45, marker="D", color="white", markeredgecolor=INK, markersize=4.5)
    axes.text(0.475, 0.45, "median", va="center", fontsize=8.5)
    axes.text(0.62, 0.45, "right of 0 = slower", va="center", fontsize=8.5, color=MUTED)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_axis_off()


def _described(group: CellGroup, rows: Sequence[CellRow]) -> str:
    parts = (
        f"{c.configuration} p99 {change(c.p99_delta_pct)}, median {change(c.median_delta_pct)}, {in_words(c.verdict)}"
        for c in rows
    )
    return f"{group.title} against {group.cells[0].baseline}: {'; '.join(parts)}."
