"""``commcanary baseline``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from commcanary.cli.options import Assume, Model, Output, numbers
from commcanary.cli.progress import working
from commcanary.cli.say import say
from commcanary.errors import UsageError


def command(
    trace: Annotated[Path, typer.Argument(help="Trace to make a control of.")],
    output: Output,
    method: Annotated[str, typer.Option(help="isolated, random, frequency, cluster or stratified.")],
    sample_count: Annotated[int, typer.Option(help="Events that random draws.")] = 8,
    cluster_count: Annotated[int, typer.Option(help="Medoids per shape that cluster keeps.")] = 8,
    strata_per_group: Annotated[int, typer.Option(help="Draws per shape of stratified.")] = 4,
    seed: Annotated[int, typer.Option(help="Seed of the drawing methods.")] = 0,
    model: Model = "scheduler-v4",
    assume: Assume = None,
) -> None:
    """Make a control: a representation that must be able to fail."""
    from commcanary.controls.settings import ControlSettings
    from commcanary.stages.represent import DDMIN, represent_stage

    if method == DDMIN:
        raise UsageError("--method ddmin: reducing asks an oracle and has a command of its own, commcanary reduce")
    with working(f"making {method}"):
        control = represent_stage(
            trace,
            output,
            method,
            ControlSettings(sample_count, cluster_count, strata_per_group, seed),
            [],
            model=model,
            protocol={"seeds": [7]},
            assumptions=numbers("--assume", assume),
        )
    lineage = control.header.lineage
    assert lineage is not None
    say(f"control {method}: {lineage.source_events} -> {len(control)} events, derived from {lineage.derived_from[:12]}")
