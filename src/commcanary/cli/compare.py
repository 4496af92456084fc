"""``commcanary compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from commcanary.cli.options import Output, without_effect
from commcanary.cli.say import say
from commcanary.cli.written import Written
from commcanary.judge.thresholds import Thresholds


def _limit(of: str, name: str) -> Any:
    usual = getattr(Thresholds(), name)
    return typer.Option(min=0.0, help=f"{of}  [default: {'the p99 one' if usual is None else usual}]")


def command(
    baseline: Annotated[Path, typer.Argument(help="Report of the baseline.")],
    candidate: Annotated[Path, typer.Argument(help="Report of the candidate.")],
    output: Output,
    p99_threshold_pct: Annotated[
        float | None,
        _limit("Fail if the p99 rises by more, in %, and over its floor; half of both warns.", "p99_threshold_pct"),
    ] = None,
    p95_threshold_pct: Annotated[
        float | None,
        _limit("Fail if the p95 rises by more, in %, and over its floor; half of both warns.", "p95_threshold_pct"),
    ] = None,
    median_threshold_pct: Annotated[
        float | None,
        _limit(
            "Fail if the median rises by more, in %, and over its floor; half of both warns.", "median_threshold_pct"
        ),
    ] = None,
    p99_absolute_threshold_us: Annotated[
        float | None, _limit("Floor of a rise of the p99, in us.", "p99_absolute_threshold_us")
    ] = None,
    p95_absolute_threshold_us: Annotated[
        float | None, _limit("Floor of a rise of the p95, in us.", "p95_absolute_threshold_us")
    ] = None,
    median_absolute_threshold_us: Annotated[
        float | None, _limit("Floor of a rise of the median, in us.", "median_absolute_threshold_us")
    ] = None,
    makespan_threshold_pct: Annotated[
        float | None,
        _limit(
            "Fail if the makespan rises by more, in %, and over its floor; half of both warns.",
            "makespan_threshold_pct",
        ),
    ] = None,
    makespan_absolute_threshold_us: Annotated[
        float | None, _limit("Floor of a rise of the makespan, in us.", "makespan_absolute_threshold_us")
    ] = None,
    hidden_drop_threshold_points: Annotated[
        float | None,
        _limit("Fail if the hidden share drops by more, in points; half warns.", "hidden_drop_threshold_points"),
    ] = None,
    breakdown_threshold_pct: Annotated[
        float | None, _limit("The same for every phase and operation, in %.", "breakdown_threshold_pct")
    ] = None,
    breakdown_absolute_threshold_us: Annotated[
        float | None, _limit("The same for every phase and operation, in us.", "breakdown_absolute_threshold_us")
    ] = None,
    allow_mismatch: Annotated[
        bool, typer.Option("--allow-mismatch", help="Compare what does not belong together; the verdict is warn.")
    ] = False,
    confidence: Annotated[
        float | None, typer.Option(help="Level of bootstrap intervals over runs, for example 0.95.")
    ] = None,
    canary: Annotated[
        Path | None, typer.Option(help="The replayed canary: gives phases and operations intervals too.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Also write the comparison as a page."), Written()] = None,
) -> int:
    """Compare two reports of one canary."""
    if confidence is None:
        without_effect({"--canary": canary}, "it gives intervals, which go with --confidence")
    from commcanary.judge.compare import comparison_exit_code
    from commcanary.judge.reasons import interval_lines
    from commcanary.stages.compare import compare_stage

    given = {
        "p99_threshold_pct": p99_threshold_pct,
        "p95_threshold_pct": p95_threshold_pct,
        "median_threshold_pct": median_threshold_pct,
        "p99_absolute_threshold_us": p99_absolute_threshold_us,
        "p95_absolute_threshold_us": p95_absolute_threshold_us,
        "median_absolute_threshold_us": median_absolute_threshold_us,
        "makespan_threshold_pct": makespan_threshold_pct,
        "makespan_absolute_threshold_us": makespan_absolute_threshold_us,
        "hidden_drop_threshold_points": hidden_drop_threshold_points,
        "breakdown_threshold_pct": breakdown_threshold_pct,
        "breakdown_absolute_threshold_us": breakdown_absolute_threshold_us,
    }
    comparison = compare_stage(
        baseline,
        candidate,
        output,
        Thresholds(**{name: value for name, value in given.items() if value is not None}),
        allow_mismatch=allow_mismatch,
        confidence=confidence,
        canary_path=canary,
    )
    say(f"comparison verdict: {comparison.verdict}")
    for reason in comparison.reasons:
        say(f"- {reason}")
    for line in comparison.not_gated:
        if line not in comparison.reasons:
            say(line)
    for line in interval_lines(comparison):
        say(line)
    if html is not None:
        from commcanary.reporting.comparison_page import write_comparison_page

        write_comparison_page(comparison, html)
    return comparison_exit_code(comparison)
