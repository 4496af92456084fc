"""``commcanary verify-source``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from commcanary.cli.checks import print_checks
from commcanary.cli.options import Output
from commcanary.cli.progress import working
from commcanary.cli.say import say


def command(
    trace: Annotated[Path, typer.Argument(help="Source of the canary.")],
    canary: Annotated[Path, typer.Argument(help="Canary to check.")],
    output: Output,
) -> int:
    """Check a canary against its source."""
    from commcanary.judge.verify_source import source_exit_code
    from commcanary.stages.verify_source import verify_source_stage

    with working(f"checking {canary}"):
        verification = verify_source_stage(trace, canary, output)
    say(f"source verification: {verification.status}")
    print_checks(verification.checks)
    return source_exit_code(verification)
