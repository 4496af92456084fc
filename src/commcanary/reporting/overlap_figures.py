"""The figures of an overlap document: the same document gives the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from commcanary.artifacts.atomic import write_bytes
from commcanary.reporting.drawing import house_style
from commcanary.reporting.drawings.exposed_bands import draw_exposed_bands
from commcanary.reporting.drawings.four_parts import draw_four_parts
from commcanary.reporting.drawings.phase_heat import draw_phase_heat
from commcanary.reporting.drawings.timeline_strip import draw_timeline_strip
from commcanary.reporting.svgfile import svg_bytes

if TYPE_CHECKING:
    from commcanary.timeline.overlap import Overlap

_DRAWN = {
    "parts": draw_four_parts,
    "phases": draw_phase_heat,
    "exposed": draw_exposed_bands,
    "strip": draw_timeline_strip,
}


def overlap_figures(overlap: Overlap) -> dict[str, bytes]:
    """SVG per name: parts, phases, exposed, strip."""
    with house_style():
        return {name: svg_bytes(name, draw(overlap.devices)) for name, draw in _DRAWN.items()}


def write_overlap_figures(overlap: Overlap, folder: Path) -> None:
    """Write the figures as ``NAME.svg`` into ``folder``."""
    for name, data in overlap_figures(overlap).items():
        write_bytes(Path(folder) / f"{name}.svg", data)
