"""``commcanary verify-report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from commcanary.cli.checks import print_checks
from commcanary.cli.options import Output
from commcanary.cli.progress import working
from commcanary.cli.say import say


def command(
    report: Annotated[Path, typer.Argument(help="Report to check.")],
    canary: Annotated[Path, typer.Argument(help="Canary that it says it replayed.")],
    output: Output,
) -> int:
    """Recompute a report from its canary."""
    from commcanary.judge.verify_report import report_exit_code
    from commcanary.stages.verify_report import verify_report_stage

    with working(f"recomputing {report}"):
        verification = verify_report_stage(report, canary, output)
    say(f"report verification: {verification.status}")
    print_checks(verification.checks)
    return report_exit_code(verification)
