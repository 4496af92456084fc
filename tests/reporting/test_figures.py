"""All figures together: names, determinism, units, and labels that do not run into each other."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from commcanary.errors import StorageRefusal
from commcanary.reporting.drawing import house_style
from commcanary.reporting.drawings.inversion import draw_inversion
from commcanary.reporting.drawings.latency import draw_latency
from commcanary.reporting.drawings.regressions import draw_regressions
from commcanary.reporting.drawings.sizes import draw_sizes
from commcanary.reporting.drawings.trust import draw_trust
from commcanary.reporting.figures import draw_figures

from .campaigns import CELL_ROWS, EXPORT_ROWS, REPRESENTATION_ROWS
from .rows import Row, cell_row, cells, compared_row, representation_row, representations, write_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure
    from matplotlib.text import Text

ROOT = Path(__file__).parents[2]
LONG = "a-configuration-with-a-rather-long-name-that-still-ends-in-"


def many(configurations: int, workloads: int = 2) -> tuple[list[Row], list[Row]]:
    """Cells and representations with long names, under ``configurations`` configurations."""
    found, kinds = [], []
    for w in range(workloads):
        workload = f"workload-with-a-name-of-the-longest-kind-that-can-be-{w}"
        for representation in ("canary", "isolated", "cluster", "stratified"):
            found.append(cell_row(workload, representation, "baseline", 50.0 * 40**w))
            for c in range(1, configurations):
                change = 37.5 * c * (-1) ** c
                verdict = ("inconclusive", "pass", "fail", "unstable")[c % 4]
                found.append(compared_row(workload, representation, f"{LONG}{c}", 50.0 + 7 * c, verdict, change))
            kinds.append(representation_row(workload, representation, "behaviorally_unverified"))
    return found, kinds


def figures(cell_rows: list[Row], representation_rows: list[Row]) -> dict[str, Figure]:
    with house_style():
        return {
            "inversion": draw_inversion(cells(cell_rows)).figure,
            "latency": draw_latency(cells(cell_rows)).figure,
            "regressions": draw_regressions(cells(cell_rows)).figure,
            "trust": draw_trust(representations(representation_rows)).figure,
            "sizes": draw_sizes(representations(representation_rows)).figure,
        }


def test_another_process_with_other_settings_draws_the_same_bytes(tmp_path: Path) -> None:
    tables = write_tables(tmp_path, CELL_ROWS, REPRESENTATION_ROWS, EXPORT_ROWS)
    here = {path.name: path.read_bytes() for path in draw_figures(tables, tmp_path / "here")}
    settings = tmp_path / "matplotlibrc"
    settings.write_text("font.size: 20\nsvg.fonttype: path\naxes.grid: True\nlines.linewidth: 9\n")
    program = (
        "import sys; from pathlib import Path; from commcanary.reporting.figures import draw_figures; "
        "draw_figures(Path(sys.argv[1]), Path(sys.argv[2]))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "77", "MATPLOTLIBRC": str(settings), "TZ": "Asia/Tokyo"}
    command = [sys.executable, "-c", program, str(tables), str(tmp_path / "there")]
    subprocess.run(command, env=environment, check=True, timeout=120)
    assert {path.name: path.read_bytes() for path in (tmp_path / "there").iterdir()} == here


def test_a_missing_table_leaves_no_figure(tmp_path: Path) -> None:
    tables = write_tables(tmp_path, CELL_ROWS, REPRESENTATION_ROWS, EXPORT_ROWS)
    (tables / "representations.parquet").unlink()
    with pytest.raises(StorageRefusal):
        draw_figures(tables, tmp_path / "figures")
    assert not (tmp_path / "figures").exists()


def test_every_axis_says_its_unit() -> None:
    for name, figure in figures(CELL_ROWS, REPRESENTATION_ROWS).items():
        labelled = [axes for axes in figure.axes if axes.axison]
        assert name == "trust" or labelled
        for axes in labelled:
            assert re.search(r"\((us|%|bytes)[,)]", axes.get_xlabel() + ","), (name, axes.get_xlabel())


@pytest.mark.parametrize("configurations", [3, 5, 10])
def test_no_label_runs_into_another_or_over_the_edge(configurations: int) -> None:
    for name, figure in figures(*many(configurations)).items():
        renderer = FigureCanvasAgg(figure).get_renderer()
        figure.canvas.draw()
        boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in shown(figure)]
        width, height = figure.canvas.get_width_height()
        for words, box in boxes:
            assert box.x0 >= 0, (name, words)
            assert box.x1 <= width, (name, words)
            assert box.y0 >= 0, (name, words)
            assert box.y1 <= height, (name, words)
        for (one, a), (other, b) in combinations(boxes, 2):
            apart = a.x1 <= b.x0 or b.x1 <= a.x0 or a.y1 <= b.y0 or b.y1 <= a.y0
            assert apart, f"{name}: {one!r} runs into {other!r}"


def shown(figure: Figure) -> Iterator[Text]:
    """Every text that is drawn: ticks outside an axis' limits are not."""
    yield from figure.texts
    for axes in figure.axes:
        yield from (text for text in axes.texts if text.get_text())
        if axes.axison:
            low, high = sorted(axes.get_xlim())
            yield axes.xaxis.label
            yield from (tick.label1 for tick in axes.xaxis.get_major_ticks() if low <= tick.get_loc() <= high)
