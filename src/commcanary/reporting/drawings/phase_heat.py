"""Exposed communication by phase and collective, over all devices."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Rectangle

from commcanary.reporting.drawing import INK, MUTED, WIDTH, Drawing, Sheet, message
from commcanary.reporting.words import milliseconds, shortened
from commcanary.timeline.device_rows import COMPUTE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commcanary.timeline.device_rows import DeviceOverlap

TITLE = "Exposed communication by phase and collective"
_COLOURS = LinearSegmentedColormap.from_list("exposed", ["#fdf6ee", "#f0a35e", "#b34700"])
_DARK = 0.6
_LABELS, _HEAD, _ROW, _FOOT = 1.45, 0.5, 0.5, 0.15


def draw_phase_heat(devices: Sequence[DeviceOverlap]) -> Drawing:
    """A cell per phase and collective: milliseconds exposed, of all that were communicated."""
    whole: Counter[tuple[str, str]] = Counter()
    alone: Counter[tuple[str, str]] = Counter()
    for cell in (cell for device in devices for cell in device.cells if cell.kind != COMPUTE):
        whole[cell.phase, cell.kind] += cell.ns
        alone[cell.phase, cell.kind] += cell.alone_ns
    if not whole:
        return message(TITLE, ("No communication ran in this window.",))
    phases = list(dict.fromkeys(cell.phase for d in devices for cell in d.cells if cell.kind != COMPUTE))
    kinds = sorted({kind for _, kind in whole}, key=lambda kind: (-_of_kind(alone, kind), kind))
    column = min((WIDTH - _LABELS - 0.1) / len(kinds), 1.6)
    sheet = Sheet(_HEAD + _ROW * len(phases) + _FOOT)
    axes = sheet.axes(_LABELS, _HEAD, column * len(kinds), _ROW * len(phases))
    axes.set_xlim(0, len(kinds))
    axes.set_ylim(len(phases), 0)
    axes.set_axis_off()
    sheet.text(0.1, 0.2, "ms exposed, of ms communicated", size=8, color=MUTED)
    for x, kind in enumerate(kinds):
        sheet.text(_LABELS + column * (x + 0.5), _HEAD - 0.08, shortened(kind, int(column / 0.08)), align="center")
    most = max(alone.values()) or 1
    for y, phase in enumerate(phases):
        sheet.text(0.1, _HEAD + _ROW * (y + 0.5) + 0.04, shortened(phase, 18))
        for x, kind in enumerate(kinds):
            if (phase, kind) not in whole:
                continue
            level = alone[phase, kind] / most
            axes.add_patch(Rectangle((x + 0.02, y + 0.04), 0.96, 0.92, facecolor=_COLOURS(level), linewidth=0))
            color = "white" if level > _DARK else INK
            text = milliseconds(alone[phase, kind])
            axes.text(x + 0.5, y + 0.42, text, ha="center", va="center", color=color, fontweight="bold")
            of = f"of {milliseconds(whole[phase, kind])}"
            axes.text(x + 0.5, y + 0.74, of, ha="center", va="center", color=color, fontsize=7)
    parts = (f"{p} {k} {milliseconds(alone[p, k])} of {milliseconds(ns)} ms" for (p, k), ns in whole.items())
    return Drawing(sheet.figure, TITLE, f"Exposed: {'; '.join(parts)}.")


def _of_kind(cells: Counter[tuple[str, str]], kind: str) -> int:
    return sum(ns for (_, k), ns in cells.items() if k == kind)
