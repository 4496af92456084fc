"""``commcanary compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from commcanary.cli.options import Output

_Limit = Annotated[
    float | None, typer.Option(min=0.0, help="A rise must exceed both percentage and us; half of both warns.")
]


def command(
    baseline: Annotated[Path, typer.Argument(help="Report of the baseline.")],
    candidate: Annotated[Path, typer.Argument(help="Report of the candidate.")],
    output: Output,
    p99_threshold_pct: _Limit = None,
    p95_threshold_pct: _Limit = None,
    median_threshold_pct: _Limit = None,
    p99_absolute_threshold_us: _Limit = None,
    p95_absolute_threshold_us: _Limit = None,
    median_absolute_threshold_us: _Limit = None,
    makespan_threshold_pct: _Limit = None,
    makespan_absolute_threshold_us: _Limit = None,
    hidden_drop_threshold_points: _Limit = None,
    breakdown_threshold_pct: _Limit = None,
    breakdown_absolute_threshold_us: _Limit = None,
    allow_mismatch: Annotated[
        bool, typer.Option("--allow-mismatch", help="Compare what does not belong together; the verdict is warn.")
    ] = False,
    confidence: Annotated[
        float | None, typer.Option(help="Level of bootstrap intervals over runs, for example 0.95.")
    ] = None,
    canary: Annotated[
        Path | None, typer.Option(help="The replayed canary: gives phases and operations intervals too.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Also write the comparison as a page.")] = None,
) -> int:
    """Compare two reports of one canary."""
    from commcanary.judge.compare import comparison_exit_code
    from commcanary.judge.reasons import interval_lines
    from commcanary.judge.thresholds import Thresholds
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
    print(f"comparison verdict: {comparison.verdict}")
    for reason in comparison.reasons:
        print(f"- {reason}")
    for line in comparison.not_gated:
        if line not in comparison.reasons:
            print(line)
    for line in interval_lines(comparison):
        print(line)
    if html is not None:
        from commcanary.reporting.comparison_page import write_comparison_page

        write_comparison_page(comparison, html)
    return comparison_exit_code(comparison)
