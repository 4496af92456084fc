"""One comparison as a page: the verdict, its reasons, and every number and threshold behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.reporting.pages import write_page
from commcanary.reporting.ran import PARAMETERS
from commcanary.reporting.tables import change_pct
from commcanary.reporting.words import change, number

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.judge.comparison import Comparison, Evaluation


def write_comparison_page(comparison: Comparison, output: Path) -> None:
    """Write a comparison to ``output``."""
    sides = (comparison.baseline.backend, comparison.candidate.backend)
    write_page(
        output,
        "comparison.html.jinja",
        comparison=comparison,
        parameters=[(label, *(getattr(side, field) for side in sides)) for field, label in PARAMETERS.items()],
        rows=[(row, _percent(row), _limit(row), _interval(row)) for row in comparison.evaluations],
    )


def _percent(evaluation: Evaluation) -> float | None:
    """The relative change before its rounding in the document, which printed digits would round twice."""
    if evaluation.baseline is None or evaluation.candidate is None:
        return None
    return change_pct(evaluation.baseline, evaluation.candidate)


def _limit(evaluation: Evaluation) -> str:
    """What the change may be at most, with its floor."""
    if evaluation.threshold_points is not None:
        return f"{number(evaluation.threshold_points)} points down"
    if evaluation.threshold_pct is None:
        return "none"
    floor = evaluation.absolute_threshold_us
    return f"+{number(evaluation.threshold_pct)} %" + ("" if floor is None else f" and {number(floor)} us")


def _interval(evaluation: Evaluation) -> str | None:
    """The bootstrap interval of the difference, in percent of the baseline where that exists."""
    interval = evaluation.interval
    if interval is None:
        return None
    if interval.low_pct is not None and interval.high_pct is not None:
        return f"{change(interval.low_pct)} to {change(interval.high_pct)}"
    return f"{number(interval.low)} to {number(interval.high)}"
