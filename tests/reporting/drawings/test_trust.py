"""The matrix of statuses: words in every cell, and what was not made is not called failed."""

from __future__ import annotations

import pytest

from commcanary.reporting.drawing import WIDTH, Drawing, house_style
from commcanary.reporting.drawings.trust import draw_trust

from ..rows import Row, representation_row, representations


def draw(*rows: Row) -> Drawing:
    with house_style():
        return draw_trust(representations(rows))


def words(drawing: Drawing) -> list[str]:
    return [text.get_text() for axes in drawing.figure.axes for text in axes.texts if text.get_text()]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (representation_row("w", "r", "behaviorally_verified"), ["✓ verified"]),
        (representation_row("w", "r", "failed", expected_status="failed"), ["✕ failed", "as expected"]),
        (
            representation_row("w", "r", "behaviorally_unverified", expected_status="behaviorally_verified"),
            ["▲ unverified", "NOT as expected"],
        ),
        (
            representation_row("w", "r", "failed", behavior_status="pass", ranking_status="pass"),
            ["✕ failed", "behaves alike"],
        ),
        (representation_row("w", "r", None), ["○ not stated"]),
    ],
)
def test_what_a_cell_says(row: Row, expected: list[str]) -> None:
    assert words(draw(row)) == expected


def test_a_representation_that_a_workload_does_not_have_is_not_made() -> None:
    drawing = draw(representation_row("a", "canary", "failed"), representation_row("b", "isolated", "failed"))
    assert words(drawing).count("not made") == 2


def test_many_representations_widen_the_figure() -> None:
    rows = [representation_row("w", f"representation-{i}", "failed") for i in range(12)]
    assert draw(*rows).figure.get_size_inches()[0] > WIDTH


def test_no_representation_at_all() -> None:
    assert draw().description == "This campaign has no representation."
