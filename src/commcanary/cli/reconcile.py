"""``commcanary reconcile``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from commcanary.cli.options import Output
from commcanary.cli.say import say
from commcanary.errors import EXIT_DONE, EXIT_NEGATIVE_VERDICT


def command(
    traces: Annotated[list[Path], typer.Argument(help="Traces of one job, from several sources.")],
    output: Output,
    name: Annotated[list[str] | None, typer.Option(help="Name of a source; repeat, once for each in order.")] = None,
) -> int:
    """Hold the counts of several sources of one job against each other."""
    from commcanary.cli.reconciliation_lines import reconciliation_lines
    from commcanary.stages.reconcile import reconcile_stage

    found = reconcile_stage(traces, output, name or ())
    for line in reconciliation_lines(found):
        say(line)
    return EXIT_DONE if found.closes else EXIT_NEGATIVE_VERDICT
