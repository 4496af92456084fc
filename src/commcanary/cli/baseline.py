"""``commcanary baseline``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from commcanary.cli.options import Assume, Output, numbers, without_effect
from commcanary.cli.progress import working
from commcanary.cli.say import say
from commcanary.errors import UsageError


def command(
    trace: Annotated[Path, typer.Argument(help="Trace to make a control of.")],
    output: Output,
    method: Annotated[str, typer.Option(help="isolated, random, frequency, cluster or stratified.")],
    sample_count: Annotated[int | None, typer.Option(help="Events that random draws.  [default: 8]")] = None,
    cluster_count: Annotated[
        int | None, typer.Option(help="Medoids per shape that cluster keeps.  [default: 8]")
    ] = None,
    strata_per_group: Annotated[int | None, typer.Option(help="Draws per shape of stratified.  [default: 4]")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the drawing methods.  [default: 0]")] = None,
    model: Annotated[
        str | None, typer.Option("--model", help="Replay model by which stratified ranks.  [default: scheduler-v4]")
    ] = None,
    assume: Assume = None,
) -> None:
    """Make a control: a representation that must be able to fail."""
    from commcanary.controls.registry import SETTINGS_READ
    from commcanary.controls.settings import ControlSettings
    from commcanary.replay.model import DEFAULT_MODEL
    from commcanary.stages.represent import DDMIN, RANKED, represent_stage

    if method == DDMIN:
        raise UsageError("--method ddmin: reducing asks an oracle and has a command of its own, commcanary reduce")
    given = {
        "sample_count": sample_count,
        "cluster_count": cluster_count,
        "strata_per_group": strata_per_group,
        "seed": seed,
    }
    if method in SETTINGS_READ:
        unread: dict[str, object] = {
            f"--{name.replace('_', '-')}": value for name, value in given.items() if name not in SETTINGS_READ[method]
        }
        if method != RANKED:
            unread |= {"--model": model, "--assume": assume}
        without_effect(unread, f"--method {method} does not read it")
    with working(f"making {method}"):
        control = represent_stage(
            trace,
            output,
            method,
            ControlSettings(**{name: value for name, value in given.items() if value is not None}),
            [],
            model=model or DEFAULT_MODEL,
            protocol={"seeds": [7]},
            assumptions=numbers("--assume", assume),
        )
    lineage = control.header.lineage
    assert lineage is not None
    say(f"control {method}: {lineage.source_events} -> {len(control)} events, derived from {lineage.derived_from[:12]}")
