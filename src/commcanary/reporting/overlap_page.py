"""An overlap document as one page: figures, then every table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from commcanary.artifacts.files import read_artifact
from commcanary.reporting.drawings.exposed_bands import band_name
from commcanary.reporting.overlap_figures import overlap_figures
from commcanary.reporting.pages import write_page
from commcanary.reporting.svgfile import inline_svg
from commcanary.timeline.measure import device_label
from commcanary.timeline.overlap import OVERLAP

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.timeline.device_rows import DeviceOverlap
    from commcanary.timeline.overlap import Overlap

WINDOWS = 20
"""Rows of steps and ranges per device; a page is read, the document holds them all."""


def write_page_of(document: Path, output: Path) -> None:
    """Write the page of the overlap document at ``document``."""
    write_overlap_page(read_artifact(document, OVERLAP).header, output)


def write_overlap_page(overlap: Overlap, output: Path) -> None:
    """Write ``overlap`` to ``output`` as a self-contained page."""
    figures = {name: Markup(inline_svg(data, f"{name}.svg")) for name, data in overlap_figures(overlap).items()}
    write_page(
        output,
        "overlap.html.jinja",
        overlap=overlap,
        figures=figures,
        devices=[(device_label(device), device, _bands(device)) for device in overlap.devices],
        windows_shown=WINDOWS,
        job=", ".join(file.name for file in overlap.source_files[:4])
        + (f" and {len(overlap.source_files) - 4} more" if len(overlap.source_files) > 4 else ""),
    )


def _bands(device: DeviceOverlap) -> list[tuple[str, object]]:
    return [(band_name(band), band) for band in device.exposure.bands if band.count]
