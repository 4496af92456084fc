"""Isolated says A, the workload says B: medians of both, side by side, and how the ranks cross between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from commcanary.reporting.drawing import (
    FAINT,
    INK,
    MUTED,
    PALE,
    STRONG,
    TONE_COLOURS,
    Drawing,
    Sheet,
    message,
    rows_down,
)
from commcanary.reporting.tables import CANARY, ISOLATED, change_pct, groups_of
from commcanary.reporting.words import Tone, change, latency, number, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from commcanary.reporting.tables import CellGroup, CellRow

TITLE = "Isolated collective against whole workload"
TIE_US = 0.001
_HEAD, _ROW, _FOOT = 0.85, 0.42, 0.62
_PANEL, _MARGIN = 3.2, 0.1
_FALLS = TONE_COLOURS[Tone.BAD]


@dataclass(frozen=True)
class _Pair:
    """One workload's isolated and whole medians (us) per configuration, each sorted from fast to slow."""

    title: str
    isolated: tuple[tuple[str, float], ...]
    whole: tuple[tuple[str, float], ...]

    @property
    def inverts(self) -> bool:
        return not set(_winners(self.isolated)) & set(_winners(self.whole))

    @property
    def sentence(self) -> str:
        alone, together = _named(self.isolated), _named(self.whole)
        if self.inverts:
            return f"Alone, {alone} wins; in the workload, {together}: the ranking inverts."
        return (
            f"Both agree on the fastest: {together}." if alone == together else f"Isolated: {alone}; whole: {together}."
        )

    @property
    def description(self) -> str:
        numbers = "; ".join(
            f"{label} medians: " + ", ".join(f"{name} {latency(us)} us" for name, us in side)
            for label, side in (("isolated", self.isolated), ("whole workload", self.whole))
        )
        return f"{self.title}: {self.sentence} {numbers}."


def draw_inversion(cells: Sequence[CellRow]) -> Drawing:
    """One block per workload that has an isolated representation and a canary."""
    pairs = _pairs(cells)
    if not pairs:
        return message(
            TITLE,
            (
                "No workload of this campaign has an isolated representation beside its canary.",
                "Add {name: isolated, method: isolated} to the representations to see what a collective",
                "benchmarked alone would have said.",
            ),
        )
    heights = [_HEAD + _ROW * len(pair.whole) + _FOOT for pair in pairs]
    sheet = Sheet(sum(heights))
    for index, pair in enumerate(pairs):
        _draw(sheet, sum(heights[:index]), pair)
    return Drawing(sheet.figure, TITLE, " ".join(pair.description for pair in pairs))


def _pairs(cells: Sequence[CellRow]) -> list[_Pair]:
    canaries = groups_of(cells, CANARY)
    pairs = []
    for isolated in groups_of(cells, ISOLATED):
        for canary in canaries:
            common = {c.configuration for c in isolated.cells} & {c.configuration for c in canary.cells}
            if canary.workload == isolated.workload and common:
                pairs.append(_Pair(canary.title, _fast_first(isolated, common), _fast_first(canary, common)))
    return pairs


def _fast_first(group: CellGroup, names: set[str]) -> tuple[tuple[str, float], ...]:
    medians = [(cell.configuration, cell.median_us) for cell in group.cells if cell.configuration in names]
    return tuple(sorted(medians, key=lambda item: item[1]))


def _winners(side: tuple[tuple[str, float], ...]) -> tuple[str, ...]:
    return tuple(name for name, us in side if us - side[0][1] <= TIE_US)


def _named(side: tuple[tuple[str, float], ...]) -> str:
    return " and ".join(shortened(name, 30) for name in _winners(side))


def _draw(sheet: Sheet, top: float, pair: _Pair) -> None:
    rows = len(pair.whole)
    right = sheet.width - _MARGIN - _PANEL
    sheet.text(_MARGIN, top + 0.25, shortened(pair.title, 80), size=10, weight="bold")
    sheet.text(_MARGIN, top + 0.46, shortened(pair.sentence, 110), color=_FALLS if pair.inverts else INK)
    for left, side, label in ((_MARGIN, pair.isolated, "isolated collective"), (right, pair.whole, "whole workload")):
        sheet.text(left, top + 0.74, label, size=8.5, color=MUTED)
        _bars(sheet.axes(left, top + _HEAD, _PANEL, _ROW * rows), side)
    between = sheet.axes(_MARGIN + _PANEL, top + _HEAD, right - _MARGIN - _PANEL, _ROW * rows)
    _crossings(between, pair)


def _bars(axes: Axes, side: tuple[tuple[str, float], ...]) -> None:
    winners = _winners(side)
    for row, (name, us) in enumerate(side):
        won = name in winners
        axes.barh(row + 0.2, us, height=0.3, color=STRONG if won else PALE)
        axes.text(0, row - 0.04, shortened(name, 30), va="bottom", fontsize=8.5, fontweight="bold" if won else "normal")
        behind = "fastest" if won else change(change_pct(side[0][1], us))
        axes.text(
            1,
            row - 0.04,
            f"{latency(us)} us  {behind}",
            va="bottom",
            ha="right",
            fontsize=8,
            color=STRONG if won else MUTED,
            fontweight="bold" if won else "normal",
            transform=axes.get_yaxis_transform(),
        )
    rows_down(axes, len(side))
    axes.set_xlim(0, max(us for _, us in side) * 1.02 or 1)
    axes.grid(axis="x")
    axes.locator_params(axis="x", nbins=5)
    axes.xaxis.set_major_formatter(lambda value, _: number(value))
    axes.set_xlabel("median exposed latency (us)")


def _crossings(axes: Axes, pair: _Pair) -> None:
    """A line per configuration from its rank alone to its rank in the workload."""
    place = {name: row for row, (name, _) in enumerate(pair.whole)}
    alone, together = _winners(pair.isolated), _winners(pair.whole)
    for row, (name, _) in enumerate(pair.isolated):
        falls = name in alone and name not in together
        color = _FALLS if falls else STRONG if name in together else FAINT
        axes.plot(
            [0.08, 0.92],
            [row + 0.2, place[name] + 0.2],
            color=color,
            linewidth=2 if color != FAINT else 1.2,
            linestyle="--" if falls else "-",
            marker="o",
            markersize=3.5,
        )
    rows_down(axes, len(pair.whole))
    axes.set_xlim(0, 1)
    axes.set_axis_off()
