"""The campaign's figures as SVG files: the same tables give the same bytes."""

from __future__ import annotations

from pathlib import Path

from commcanary.artifacts.atomic import write_bytes
from commcanary.campaign.layout import FIGURES
from commcanary.reporting.drawing import house_style
from commcanary.reporting.drawings.growth import draw_growth
from commcanary.reporting.drawings.inversion import draw_inversion
from commcanary.reporting.drawings.latency import draw_latency
from commcanary.reporting.drawings.regressions import draw_regressions
from commcanary.reporting.drawings.sizes import draw_sizes
from commcanary.reporting.drawings.trust import draw_trust
from commcanary.reporting.svgfile import svg_bytes
from commcanary.reporting.tables import read_cells, read_representations


def draw_figures(tables: Path, output: Path) -> tuple[Path, ...]:
    """Draw ``FIGURES`` from the tables in ``tables`` into the folder ``output``.

    Nothing is written unless all can be drawn. Raises ``InputRefusal`` or ``StorageRefusal`` for a bad table.
    """
    cells = read_cells(Path(tables) / "cells.parquet")
    representations = read_representations(Path(tables) / "representations.parquet")
    with house_style():
        drawings = {
            "inversion": draw_inversion(cells),
            "latency": draw_latency(cells),
            "regressions": draw_regressions(cells),
            "trust": draw_trust(representations),
            "sizes": draw_sizes(representations),
            "growth": draw_growth(representations),
        }
        files = {name: svg_bytes(name, drawings[name]) for name in FIGURES}
    for name, data in files.items():
        write_bytes(Path(output) / f"{name}.svg", data)
    return tuple(Path(output) / f"{name}.svg" for name in FIGURES)
