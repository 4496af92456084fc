"""One window of one device as a strip: when each lane was busy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.reporting.drawing import MUTED, Drawing, Sheet, message, rows_down
from commcanary.reporting.words import milliseconds, share, shortened
from commcanary.timeline.measure import device_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commcanary.timeline.device_rows import DeviceOverlap

TITLE = "One step of one device"
_COMPUTE, _COMMUNICATION = "#0b5cad", "#d55e00"
_HEAD, _ROW, _FOOT = 0.35, 0.36, 0.55
_LABELS = 1.45


def draw_timeline_strip(devices: Sequence[DeviceOverlap]) -> Drawing:
    """The first step, or the whole window, of the device with most communication only.

    The height of each row is the part of that time in which it ran.
    """
    shown = [device for device in devices if device.strip.span_ns]
    if not shown:
        return message(TITLE, ("Nothing ran in this window.",))
    device = max(shown, key=lambda device: device.main.communication_only_ns)
    strip = device.strip
    sheet = Sheet(_HEAD + _ROW * len(strip.rows) + _FOOT)
    sheet.text(0.1, 0.2, f"{device_label(device)}, {shortened(strip.name, 60)}", weight="bold")
    axes = sheet.axes(_LABELS, _HEAD, sheet.width - _LABELS - 0.1, _ROW * len(strip.rows))
    edges = np.minimum(np.arange(len(strip.ns[0]) + 1) * strip.bin_ns, strip.span_ns)
    width = np.diff(edges)
    for row, (name, ns) in enumerate(zip(strip.rows, strip.ns, strict=True)):
        filled = np.asarray(ns) / width
        axes.stairs(
            row + 0.4 - 0.8 * filled,
            edges / 1e6,
            baseline=row + 0.4,
            fill=True,
            color=_COMMUNICATION if row else _COMPUTE,
            linewidth=0,
        )
        sheet.text(0.1, _HEAD + _ROW * (row + 0.5) + 0.04, shortened(name, 18))
    rows_down(axes, len(strip.rows))
    axes.set_xlim(0, strip.span_ns / 1e6)
    axes.set_xlabel("ms from the start of the step" if strip.name != device.main.name else "ms from its start")
    axes.tick_params(axis="x", colors=MUTED)
    parts = (f"{name} {share(100 * sum(ns) / strip.span_ns)} %" for name, ns in zip(strip.rows, strip.ns, strict=True))
    return Drawing(
        sheet.figure,
        TITLE,
        f"{device_label(device)}, {strip.name}, {milliseconds(strip.span_ns)} ms; busy: {', '.join(parts)}.",
    )
