"""Sizes: the direction is said, and an unstated size is not drawn."""

from __future__ import annotations

from commcanary.reporting.drawing import Drawing, house_style
from commcanary.reporting.drawings.sizes import draw_sizes

from ..rows import Row, representation_row, representations


def draw(*rows: Row) -> Drawing:
    with house_style():
        return draw_sizes(representations(rows))


def words(drawing: Drawing) -> list[str]:
    return [text.get_text() for axes in drawing.figure.axes for text in axes.texts]


def test_smaller_and_larger_are_said() -> None:
    drawing = draw(representation_row("w", "canary", "failed"))
    assert {"2.56x smaller", "1.13x LARGER"} <= set(words(drawing))
    assert "JSON: trace 3,608 B, canary 1,412 B (2.56x smaller)" in drawing.description
    assert "Parquet: trace 4,000 B, canary 4,520 B (1.13x LARGER)" in drawing.description


def test_an_unstated_size_is_not_drawn_as_zero() -> None:
    drawing = draw(representation_row("w", "canary", "failed", canary_parquet_bytes=None))
    assert "not stated" in words(drawing)
    assert "Parquet" not in drawing.description


def test_a_log_axis_always_has_two_labels() -> None:
    same = dict.fromkeys(("trace_json_bytes", "canary_json_bytes", "trace_parquet_bytes", "canary_parquet_bytes"), 5000)
    drawing = draw(representation_row("w", "canary", "failed", **same))
    for axes in (axes for axes in drawing.figure.axes if axes.axison):
        assert [label.get_text() for label in axes.get_xticklabels()] == ["1 kB", "10 kB"]
    assert "same size" in words(drawing)


def test_no_representation_at_all() -> None:
    assert draw().description == "This campaign has no representation."
