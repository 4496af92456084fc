"""Bytes per event against the length of the trace, for campaigns that compile traces of many lengths."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from commcanary.reporting.drawing import MUTED, Drawing, Sheet, message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from commcanary.reporting.tables import RepresentationRow

TITLE = "Bytes per event against the length of the trace"
FEWEST_LENGTHS = 5
"""A line through fewer lengths would say nothing."""

CONTAINERS = (
    ("JSON", "trace_json_bytes", "canary_json_bytes"),
    ("Parquet", "trace_parquet_bytes", "canary_parquet_bytes"),
)
_MARKERS = "osD^vP"
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
_HEIGHT = 2.6


def draw_growth(representations: Sequence[RepresentationRow]) -> Drawing:
    """One panel per container, one line per representation and one for the trace; both axes logarithmic."""
    rows = [row for row in representations if all(getattr(row, name) for _, *pair in CONTAINERS for name in pair)]
    if len({row.source_events for row in rows}) < FEWEST_LENGTHS:
        return message(TITLE, (f"This campaign has traces of fewer than {FEWEST_LENGTHS} lengths.",))
    by_name: dict[str, list[RepresentationRow]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row.source_events or 0):
        by_name[row.representation].append(row)
    sheet = Sheet(2 * (_HEIGHT + 0.85) + 0.2)
    for number, (container, trace, canary) in enumerate(CONTAINERS):
        top = number * (_HEIGHT + 0.85) + 0.35
        sheet.text(0.8, top - 0.1, container, weight="bold")
        axes = sheet.axes(0.9, top, sheet.width - 2.5, _HEIGHT)
        longest = max(by_name.values(), key=len)
        _line(axes, longest, trace, "trace", MUTED, None)
        for index, (name, own) in enumerate(by_name.items()):
            _line(axes, own, canary, name, _COLOURS[index % len(_COLOURS)], _MARKERS[index % len(_MARKERS)])
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(lambda value, _position: f"{value:,g}")
        axes.minorticks_off()
        axes.grid(True)
        axes.set_xlabel("length of the trace (events, log scale)")
        axes.set_ylabel("size (bytes per event, log scale)")
        axes.legend(loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False, fontsize=8)
    return Drawing(sheet.figure, TITLE, " ".join(crossovers(representations)))


def crossovers(representations: Sequence[RepresentationRow]) -> list[str]:
    """A sentence per representation and container: from which length on the canary is smaller than its trace."""
    by_name: dict[str, list[RepresentationRow]] = defaultdict(list)
    for row in sorted(representations, key=lambda row: row.source_events or 0):
        by_name[row.representation].append(row)
    sentences = []
    for name, own in by_name.items():
        for container, trace, canary in CONTAINERS:
            stated = [row for row in own if getattr(row, trace) and getattr(row, canary)]
            sizes = [(row.source_events, getattr(row, trace), getattr(row, canary)) for row in stated]
            larger = [index for index, (_, source, made) in enumerate(sizes) if made >= source]
            first = larger[-1] + 1 if larger else 0
            where = f"smaller from {sizes[first][0]:,} events" if first < len(sizes) else "never smaller"
            sentences.append(f"{name} in {container}: {where} (lengths tried: {len(sizes)}).")
    return sentences


def _line(
    axes: Axes, rows: Sequence[RepresentationRow], field: str, label: str, colour: str, marker: str | None
) -> None:
    lengths = [row.source_events for row in rows]
    per_event = [getattr(row, field) / row.source_events for row in rows]
    style = "--" if marker is None else "-"
    axes.plot(lengths, per_event, style, color=colour, marker=marker, markersize=4, label=label)
