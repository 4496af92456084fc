"""The four exclusive parts of each device's span, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.reporting.drawing import FAINT, MUTED, Drawing, Sheet, message, rows_down
from commcanary.reporting.drawings.choice import most
from commcanary.reporting.words import milliseconds, share, shortened
from commcanary.timeline.measure import device_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commcanary.timeline.device_rows import DeviceOverlap

TITLE = "What each device did"
PARTS = (
    ("compute_only_ns", "compute only", "#8fc1e3"),
    ("both_ns", "both", "#0b5cad"),
    ("communication_only_ns", "communication only", "#d55e00"),
    ("neither_ns", "neither", FAINT),
)
_LEGEND, _HEAD, _ROW, _FOOT = 0.35, 0.3, 0.3, 0.55
_LABELS, _VALUES = 1.55, 1.1


def draw_four_parts(devices: Sequence[DeviceOverlap]) -> Drawing:
    """One bar per device, in percent of its span; those with most communication only where there are too many."""
    rows, note = most([d for d in devices if d.main.span_ns], lambda device: device.main.communication_only_ns)
    if not rows:
        return message(TITLE, ("No device computed or communicated in this window.",))
    sheet = Sheet(_LEGEND + _HEAD + _ROW * len(rows) + _FOOT)
    _legend(sheet, note)
    axes = sheet.axes(_LABELS, _LEGEND + _HEAD, sheet.width - _LABELS - _VALUES, _ROW * len(rows))
    sheet.text(sheet.width - 0.1, _LEGEND + _HEAD - 0.08, "span (ms)", size=8, color=MUTED, align="right")
    for row, device in enumerate(rows):
        left = 0.0
        for field, _, color in PARTS:
            width = 100 * getattr(device.main, field) / device.main.span_ns
            axes.barh(row, width, left=left, height=0.72, color=color, linewidth=0)
            left += width
        line = _LEGEND + _HEAD + _ROW * (row + 0.5) + 0.04
        sheet.text(0.1, line, shortened(device_label(device), 20))
        sheet.text(sheet.width - 0.1, line, milliseconds(device.main.span_ns), size=8.5, align="right")
    rows_down(axes, len(rows))
    axes.set_xlim(0, 100)
    axes.set_xlabel("share of the span (%)")
    return Drawing(sheet.figure, TITLE, " ".join(_described(device) for device in rows))


def _legend(sheet: Sheet, note: str) -> None:
    axes = sheet.axes(_LABELS, 0.05, sheet.width - _LABELS - 0.1, 0.3)
    at = 0.0
    for _, label, color in PARTS:
        axes.barh(0.5, 0.025, left=at, height=0.5, color=color, linewidth=0)
        axes.text(at + 0.035, 0.5, label, va="center", fontsize=8.5)
        at += 0.09 + 0.0145 * len(label)
    axes.text(1, 0.5, note.strip(), va="center", ha="right", fontsize=8, color=MUTED)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_axis_off()


def _described(device: DeviceOverlap) -> str:
    parts = ", ".join(
        f"{label} {share(100 * getattr(device.main, field) / device.main.span_ns)} %" for field, label, _ in PARTS
    )
    return f"{device_label(device)}: {parts} of {milliseconds(device.main.span_ns)} ms."
