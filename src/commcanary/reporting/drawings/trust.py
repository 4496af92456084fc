"""Which representation of which workload can be trusted: a matrix of statuses, each as a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.patches import Rectangle

from commcanary.judge.behavior import FAILED
from commcanary.reporting.drawing import MUTED, TONE_COLOURS, TONE_GROUNDS, WIDTH, Drawing, Sheet, message
from commcanary.reporting.words import in_short, in_words, shortened, tone_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from commcanary.reporting.tables import RepresentationRow

TITLE = "Behaviour status of every representation"
_LABELS, _HEAD, _ROW, _FOOT = 1.9, 0.55, 0.5, 0.15
_NARROWEST, _WIDEST = 0.85, 1.4


def draw_trust(representations: Sequence[RepresentationRow]) -> Drawing:
    """One row per workload, one column per representation; the figure widens from seven columns on."""
    if not representations:
        return message(TITLE, ("This campaign has no representation.",))
    workloads = list(dict.fromkeys(row.workload for row in representations))
    names = list(dict.fromkeys(row.representation for row in representations))
    column = min(max((WIDTH - _LABELS - 0.1) / len(names), _NARROWEST), _WIDEST)
    sheet = Sheet(_HEAD + _ROW * len(workloads) + _FOOT, max(WIDTH, _LABELS + column * len(names) + 0.1))
    sheet.text(0.1, _HEAD - 0.1, "workload", size=8, color=MUTED)
    sheet.text(_LABELS, 0.2, "representation", size=8, color=MUTED)
    axes = sheet.axes(_LABELS, _HEAD, column * len(names), _ROW * len(workloads))
    axes.set_xlim(0, len(names))
    axes.set_ylim(len(workloads), 0)
    axes.set_axis_off()
    letters = int(column / 0.078)
    for x, name in enumerate(names):
        sheet.text(_LABELS + column * (x + 0.5), _HEAD - 0.1, shortened(name, letters), size=8.5, align="center")
    for y, name in enumerate(workloads):
        sheet.text(0.1, _HEAD + _ROW * (y + 0.5) + 0.04, shortened(name, 24))
    found = {(row.workload, row.representation): row for row in representations}
    for y, workload in enumerate(workloads):
        for x, name in enumerate(names):
            _cell(axes, x, y, found.get((workload, name)))
    return Drawing(sheet.figure, TITLE, _described(representations))


def _cell(axes: Axes, x: int, y: int, row: RepresentationRow | None) -> None:
    if row is None:
        axes.text(x + 0.5, y + 0.5, "not made", ha="center", va="center", fontsize=7.5, color=MUTED)
        return
    tone = tone_of(row.status)
    color = TONE_COLOURS[tone]
    axes.add_patch(Rectangle((x + 0.03, y + 0.06), 0.94, 0.88, facecolor=TONE_GROUNDS[tone], edgecolor=color))
    word = f"{tone.mark} {in_short(row.status)}"
    if row.expected_status:
        second = "NOT as expected" if row.is_unexpected else "as expected"
    else:
        second = "behaves alike" if row.behaves_alike and row.status == FAILED else ""
    height = y + (0.4 if second else 0.5)
    axes.text(x + 0.5, height, word, ha="center", va="center", fontsize=8.5, fontweight="bold", color=color)
    weight = "bold" if row.is_unexpected else "normal"
    axes.text(x + 0.5, y + 0.72, second, ha="center", va="center", fontsize=6.5, fontweight=weight)


def _described(representations: Sequence[RepresentationRow]) -> str:
    parts = (
        f"{row.workload} as {row.representation}: {in_words(row.status)}"
        + (f", expected {in_words(row.expected_status)}" if row.expected_status else "")
        for row in representations
    )
    return f"{'; '.join(parts)}."
