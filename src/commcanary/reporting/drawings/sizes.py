"""How big a canary is beside its trace, in both containers, with the direction said in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from commcanary.reporting.drawing import MUTED, PALE, STRONG, TONE_COLOURS, Drawing, Sheet, message, rows_down
from commcanary.reporting.words import Tone, shortened
from commcanary.units import show_bytes, show_ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from commcanary.reporting.tables import RepresentationRow

TITLE = "Bytes of trace and canary"
CONTAINERS = (
    ("JSON", "trace_json_bytes", "canary_json_bytes"),
    ("Parquet", "trace_parquet_bytes", "canary_parquet_bytes"),
)
_HEAD, _ROW, _FOOT = 0.75, 0.28, 0.62
_LABELS, _RATIO = 2.0, 1.05
_LARGER = TONE_COLOURS[Tone.CAUTION]
_UNITS = ("B", "kB", "MB", "GB", "TB")


def draw_sizes(representations: Sequence[RepresentationRow]) -> Drawing:
    """One row per representation, one panel per container; hollow is the trace, filled the canary."""
    if not representations:
        return message(TITLE, ("This campaign has no representation.",))
    labels = _labels(representations)
    sheet = Sheet(_HEAD + _ROW * len(labels) + _FOOT)
    for row, (text, weight, inset) in enumerate(labels):
        sheet.text(0.1 + inset, _HEAD + _ROW * (row + 0.5) + 0.04, shortened(text, 25), weight=weight)
    width = (sheet.width - _LABELS - 0.1) / len(CONTAINERS)
    limits = _decades(representations)
    for number, (container, trace, canary) in enumerate(CONTAINERS):
        left = _LABELS + width * number
        sheet.text(left, _HEAD - 0.1, container, weight="bold")
        axes = sheet.axes(left, _HEAD, width - _RATIO, _ROW * len(labels))
        rows_down(axes, len(labels))
        for row, representation in _placed(representations):
            _dumbbell(axes, row, getattr(representation, trace), getattr(representation, canary))
        axes.set_xscale("log")
        axes.set_xlim(*limits)
        axes.minorticks_off()
        ticks = [10**power for power in range(round(math.log10(limits[0])), round(math.log10(limits[1])) + 1)]
        axes.set_xticks(ticks[:: math.ceil(len(ticks) / 5)])
        axes.set_xticklabels([_round_size(tick) for tick in ticks[:: math.ceil(len(ticks) / 5)]])
        axes.grid(axis="x")
        axes.set_xlabel("size (bytes, log scale)")
    _legend(sheet)
    return Drawing(sheet.figure, TITLE, _described(representations))


def _labels(representations: Sequence[RepresentationRow]) -> list[tuple[str, str, float]]:
    """The lines on the left: each workload once, its representations under it."""
    labels: list[tuple[str, str, float]] = []
    for number, row in enumerate(representations):
        if number == 0 or representations[number - 1].workload != row.workload:
            labels.append((row.workload, "bold", 0.0))
        labels.append((row.representation, "normal", 0.12))
    return labels


def _placed(representations: Sequence[RepresentationRow]) -> list[tuple[int, RepresentationRow]]:
    lines = [number for number, (_, _, inset) in enumerate(_labels(representations)) if inset]
    return list(zip(lines, representations, strict=True))


def _dumbbell(axes: Axes, row: int, trace: int | None, canary: int | None) -> None:
    if not trace or not canary:
        axes.text(1.03, row, "not stated", va="center", fontsize=8, color=MUTED, transform=axes.get_yaxis_transform())
        return
    color = _LARGER if canary > trace else STRONG
    axes.plot([trace, canary], [row, row], color=PALE, linewidth=2.5, zorder=1)
    axes.plot(trace, row, marker="o", color="white", markeredgecolor=MUTED, markersize=6, zorder=2)
    axes.plot(canary, row, marker="o", color=color, markersize=5.5, zorder=3)
    axes.text(
        1.04,
        row,
        show_ratio(trace / canary),
        va="center",
        fontsize=8,
        color=color,
        fontweight="bold" if canary > trace else "normal",
        transform=axes.get_yaxis_transform(),
    )


def _decades(representations: Sequence[RepresentationRow]) -> tuple[float, float]:
    """Whole powers of ten around every size, so that a log axis always has two labels."""
    names = [name for _, *pair in CONTAINERS for name in pair]
    sizes = [size for row in representations for name in names if (size := getattr(row, name))] or [1]
    low, high = math.floor(math.log10(min(sizes))), math.ceil(math.log10(max(sizes)))
    return 10.0**low, 10.0 ** max(high, low + 1)


def _round_size(size: float) -> str:
    power = round(math.log10(size))
    return f"{10 ** (power % 3)} {_UNITS[min(power // 3, len(_UNITS) - 1)]}"


def _legend(sheet: Sheet) -> None:
    axes = sheet.axes(_LABELS, 0.02, sheet.width - _LABELS - 0.1, 0.3)
    entries = (
        (0.01, "white", MUTED, "trace"),
        (0.16, STRONG, STRONG, "canary, smaller"),
        (0.44, _LARGER, _LARGER, "canary, LARGER"),
    )
    for left, color, edge, label in entries:
        axes.plot(left, 0.45, marker="o", color=color, markeredgecolor=edge, markersize=5.5)
        axes.text(left + 0.025, 0.45, label, va="center", fontsize=8.5)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_axis_off()


def _described(representations: Sequence[RepresentationRow]) -> str:
    parts = []
    for row in representations:
        for container, trace_name, canary_name in CONTAINERS:
            trace, canary = getattr(row, trace_name), getattr(row, canary_name)
            if trace and canary:
                sizes = f"trace {show_bytes(trace)}, canary {show_bytes(canary)} ({show_ratio(trace / canary)})"
                parts.append(f"{row.workload} as {row.representation}, {container}: {sizes}")
    return f"{'; '.join(parts) or 'No size is stated'}."
