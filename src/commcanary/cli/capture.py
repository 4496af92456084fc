"""``commcanary capture``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from commcanary.cli.options import Output
from commcanary.cli.say import say
from commcanary.cli.written import Written


def command(
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND...", help="The command that runs the job.")],
    output: Output,
    workload_name: Annotated[str | None, typer.Option(help="Name of the workload.")] = None,
    auto: Annotated[bool, typer.Option("--auto", help="Record torch.distributed in every process.")] = False,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="A job that communicates nothing is no fault; no file is written.")
    ] = False,
    preserve_on_failure: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep what was recorded, with checksums, if the capture fails."),
        Written(files="*"),
    ] = None,
) -> None:
    """Run a job and capture what its ranks communicate."""
    from commcanary.stages.capture import capture_stage

    captured = capture_stage(command, output, workload_name, auto, allow_empty, preserve_on_failure)
    if captured is None:
        say("captured nothing: no process recorded a collective, and no trace is written")
        return
    say(captured.summary)
    for field, reason in captured.trace.header.unknown.items():
        say(f"unknown {field}: {reason}")
