"""Regressions: verdicts as words, honest axes, and null changes that are not drawn as zero."""

from __future__ import annotations

import pytest

from commcanary.reporting.drawing import TONE_COLOURS, Drawing, house_style
from commcanary.reporting.drawings.regressions import draw_regressions
from commcanary.reporting.words import Tone

from ..rows import Row, cell_row, cells, compared_row


def draw(*rows: Row) -> Drawing:
    with house_style():
        return draw_regressions(cells([cell_row("w", "canary", "baseline", 10.0), *rows]))


def words(drawing: Drawing) -> list[str]:
    return [text.get_text() for text in drawing.figure.texts]


@pytest.mark.parametrize(
    ("verdict", "word", "tone"),
    [
        ("pass", "✓ pass", Tone.GOOD),
        ("warn", "▲ warn", Tone.CAUTION),
        ("inconclusive", "▲ inconclusive", Tone.CAUTION),
        ("fail", "✕ fail", Tone.BAD),
    ],
)
def test_a_verdict_is_a_word_with_a_mark_and_a_colour(verdict: str, word: str, tone: Tone) -> None:
    drawing = draw(compared_row("w", "canary", "other", 12.0, verdict, 20.0))
    (text,) = [text for text in drawing.figure.texts if text.get_text() == word]
    assert text.get_color() == TONE_COLOURS[tone]
    assert f"other p99 +20.0 %, median +20.0 %, {verdict}" in drawing.description


def test_the_panel_names_its_baseline_and_leaves_it_out() -> None:
    drawing = draw(compared_row("w", "canary", "other", 12.0, "fail", 20.0))
    labels = [axes.get_xlabel() for axes in drawing.figure.axes if axes.axison]
    assert labels == ["change of exposed latency against baseline (%)"]
    assert "baseline" not in words(drawing)


def test_a_change_from_zero_has_no_bar() -> None:
    drawing = draw(compared_row("w", "canary", "other", 12.0, "fail", None))
    (axes,) = [axes for axes in drawing.figure.axes if axes.axison]
    assert not axes.patches
    assert "from 0" in words(drawing)


def test_a_tiny_change_looks_tiny() -> None:
    drawing = draw(compared_row("w", "canary", "other", 10.02, "pass", 0.2))
    (axes,) = [axes for axes in drawing.figure.axes if axes.axison]
    low, high = axes.get_xlim()
    assert low <= -5
    assert high >= 5


def test_with_the_baseline_alone_it_says_that_nothing_is_compared() -> None:
    assert draw().description.startswith("Only the baseline was run")
