"""``commcanary synth``."""

from __future__ import annotations

from typing import Annotated

import typer

from commcanary.cli.options import Output
from commcanary.cli.progress import working


def command(
    name: Annotated[str, typer.Argument(help="Which trace: inference, mixed or ranking-inversion.")],
    output: Output,
    seed: Annotated[int, typer.Option(help="Seed of all random draws.")] = 7,
    events: Annotated[int | None, typer.Option(help="Wanted number of events.  [default: 1000]")] = None,
) -> None:
    """Make a synthetic trace by rule."""
    from commcanary.stages.synth import synth_stage

    with working(f"making {name}"):
        trace = synth_stage(name, output, seed=seed, events=events)
    print(f"made {trace.workload_name}: {len(trace)} events, {len(trace.events.groups)} groups, seed {seed}")
