"""Exposed segments by their duration: a thousand small waits and one large one want different fixes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.reporting.drawing import Drawing, Sheet, message, rows_down
from commcanary.reporting.words import count, milliseconds, number, share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commcanary.timeline.device_rows import Band, DeviceOverlap

TITLE = "Exposed segments by duration"
_HEAD, _ROW, _FOOT = 0.1, 0.32, 0.55
_LABELS, _VALUES = 1.6, 2.3


def draw_exposed_bands(devices: Sequence[DeviceOverlap]) -> Drawing:
    """A bar per band: its share of all exposed time, with how many segments and how long together."""
    total = sum(device.exposure.sum_ns for device in devices)
    if not total:
        return message(TITLE, ("No communication was exposed in this window.",))
    bands = [
        (
            band_name(same[0]),
            sum(band.count for band in same),
            sum(band.sum_ns for band in same),
        )
        for same in zip(*(device.exposure.bands for device in devices), strict=True)
    ]
    sheet = Sheet(_HEAD + _ROW * len(bands) + _FOOT)
    axes = sheet.axes(_LABELS, _HEAD, sheet.width - _LABELS - _VALUES, _ROW * len(bands))
    for row, (name, segments, ns) in enumerate(bands):
        axes.barh(row, 100 * ns / total, height=0.7, color="#d55e00", linewidth=0)
        line = _HEAD + _ROW * (row + 0.5) + 0.04
        sheet.text(0.1, line, name)
        text = f"{share(100 * ns / total)} %: {count(segments, 'segment')}, {milliseconds(ns)} ms"
        sheet.text(sheet.width - 0.1, line, text, size=8.5, align="right")
    rows_down(axes, len(bands))
    axes.set_xlim(0, 100)
    axes.set_xlabel("share of exposed time (%)")
    axes.grid(axis="x")
    parts = (f"{name}: {count(n, 'segment')}, {share(100 * ns / total)} %" for name, n, ns in bands)
    return Drawing(sheet.figure, TITLE, f"{'; '.join(parts)} of exposed time.")


def band_name(band: Band) -> str:
    """``10 us to 100 us``, ``10,000 us and more``."""
    low = f"{number(band.from_ns / 1000)} us"
    return f"{low} and more" if band.below_ns is None else f"{low} to {number(band.below_ns / 1000)} us"
