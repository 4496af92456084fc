"""The inversion: who wins alone, who wins in the workload, and what is said where there is nothing to say."""

from __future__ import annotations

from commcanary.reporting.drawing import Drawing, house_style
from commcanary.reporting.drawings.inversion import draw_inversion

from ..rows import FAST, FRIENDLY, Row, cell_row, cells, inversion_rows


def draw(rows: list[Row]) -> Drawing:
    with house_style():
        return draw_inversion(cells(rows))


def texts(drawing: Drawing) -> list[str]:
    return [text.get_text() for axes in drawing.figure.axes for text in axes.texts]


def test_both_winners_are_marked_and_the_inversion_is_said() -> None:
    drawing = draw(inversion_rows())
    assert f"Alone, {FAST} wins; in the workload, {FRIENDLY}: the ranking inverts." in drawing.description
    assert "12.834 us  fastest" in texts(drawing)
    assert "127.042 us  fastest" in texts(drawing)
    assert "13.834 us  +7.8 %" in texts(drawing)
    assert "127.284 us  +0.19 %" in texts(drawing)


def test_bars_start_at_zero_so_that_a_small_difference_looks_small() -> None:
    panels = [axes for axes in draw(inversion_rows()).figure.axes if axes.axison]
    assert len(panels) == 2
    for axes in panels:
        assert axes.get_xlim()[0] == 0
        assert {patch.get_x() for patch in axes.patches} == {0}


def test_agreement_is_said_too() -> None:
    rows = [
        cell_row("w", representation, name, median)
        for representation in ("canary", "isolated")
        for name, median in (("baseline", 10.0), ("slow", 20.0))
    ]
    description = draw(rows).description
    assert "Both agree on the fastest: baseline." in description
    assert "inverts" not in description


def test_a_tie_within_a_nanosecond_has_two_winners() -> None:
    rows = [
        cell_row("w", representation, name, median)
        for representation in ("canary", "isolated")
        for name, median in (("baseline", 10.0), ("same", 10.0005))
    ]
    assert "Both agree on the fastest: baseline and same." in draw(rows).description


def test_without_an_isolated_representation_it_says_so_in_words() -> None:
    rows = [row for row in inversion_rows() if row["method"] != "isolated"]
    drawing = draw(rows)
    assert "No workload of this campaign has an isolated representation" in drawing.description
    assert [text.get_text() for text in drawing.figure.texts]
    assert not drawing.figure.axes


def test_only_configurations_that_both_have_are_set_side_by_side() -> None:
    drawing = draw([*inversion_rows(), cell_row("ranking-inversion", "canary", "only-here", 1.0)])
    assert "only-here" not in drawing.description


def test_a_workload_that_takes_no_time_can_be_drawn() -> None:
    rows = [cell_row("w", r, c, 0.0) for r in ("canary", "isolated") for c in ("baseline", "other")]
    assert "0.000 us" in draw(rows).description
