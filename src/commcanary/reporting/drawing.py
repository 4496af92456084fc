"""What every figure shares: one style, colours that colour-blind readers tell apart, and a sheet measured in inches."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure

from commcanary.reporting.words import Tone

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes

WIDTH = 7.6
"""Inches: the width of a page's column, so that 9 pt in the figure is 9 pt on the page."""

INK = "#1a1a1a"
MUTED = "#5c6570"
FAINT = "#d5dae0"
STRONG = "#0b5cad"
PALE = "#aab7c6"
TONE_COLOURS = {
    Tone.GOOD: "#0072b2",
    Tone.CAUTION: "#c77700",
    Tone.BAD: "#b3261e",
    Tone.NEUTRAL: "#6b7280",
}
TONE_GROUNDS = {
    Tone.GOOD: "#dcecf7",
    Tone.CAUTION: "#fdf0d5",
    Tone.BAD: "#f8dedb",
    Tone.NEUTRAL: "#eef0f2",
}

_STYLE: dict[Any, object] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.labelsize": 9.0,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 9.0,
    "text.color": INK,
    "text.parse_math": False,
    "figure.facecolor": "white",
    "svg.fonttype": "none",
}


@dataclass(frozen=True)
class Drawing:
    """A figure, its name for people, and what it shows in words for those who cannot see it."""

    figure: Figure
    title: str
    description: str


class Sheet:
    """A figure whose parts are placed in inches from its top left corner."""

    def __init__(self, height: float, width: float = WIDTH) -> None:
        self.width, self.height = width, height
        self.figure = Figure(figsize=(width, height))

    def axes(self, left: float, top: float, width: float, height: float) -> Axes:
        """Axes of the given size whose upper left corner is at (left, top)."""
        bottom = self.height - top - height
        return self.figure.add_axes((left / self.width, bottom / self.height, width / self.width, height / self.height))

    def text(
        self,
        left: float,
        top: float,
        text: str,
        *,
        size: float = 9.0,
        weight: str = "normal",
        color: str = INK,
        align: str = "left",
    ) -> None:
        """One line of text whose baseline is ``top`` inches under the upper edge."""
        self.figure.text(
            left / self.width,
            1 - top / self.height,
            text,
            fontsize=size,
            fontweight=weight,
            color=color,
            ha=align,
            va="baseline",
        )


@contextmanager
def house_style() -> Iterator[None]:
    """Draw in this style whatever the machine's own matplotlib settings are."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


def rows_down(axes: Axes, count: int) -> None:
    """Give ``axes`` one unit of height a row, the first at the top, and no vertical axis of its own."""
    axes.set_ylim(count - 0.5, -0.5)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


def message(title: str, lines: tuple[str, ...]) -> Drawing:
    """A figure that says in words why there is nothing to draw."""
    sheet = Sheet(0.45 + 0.22 * len(lines))
    for number, line in enumerate(lines):
        sheet.text(0.1, 0.35 + 0.22 * number, line, color=INK if number == 0 else MUTED)
    return Drawing(sheet.figure, title, " ".join(lines))
