"""``commcanary synth``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from commcanary.cli.options import Output
from commcanary.cli.progress import working
from commcanary.cli.say import say
from commcanary.cli.written import Written
from commcanary.units import show_count


def command(
    name: Annotated[str, typer.Argument(help="Which trace: inference, mixed, pipeline, ddp or ranking-inversion.")],
    output: Output,
    seed: Annotated[int, typer.Option(help="Seed of all random draws.")] = 7,
    events: Annotated[int | None, typer.Option(help="Wanted number of events.  [default: 1000]")] = None,
    repeat: Annotated[int, typer.Option(help="How often in a row.")] = 1,
    stages: Annotated[int | None, typer.Option(help="Stages of a pipeline.  [default: 4]")] = None,
    microbatches: Annotated[int | None, typer.Option(help="Microbatches of a pipeline's step.  [default: 8]")] = None,
    ranks: Annotated[int | None, typer.Option(help="Ranks of ddp.  [default: 8]")] = None,
    buckets: Annotated[int | None, typer.Option(help="Gradient buckets of ddp.  [default: 6]")] = None,
    profile: Annotated[
        Path | None,
        typer.Option(help="Folder for one Kineto profile a rank (pipeline and ddp)."),
        Written(files="rank*.pt.trace.json"),
    ] = None,
) -> None:
    """Make a synthetic trace by rule."""
    from commcanary.stages.synth import synth_stage

    sizes = {"stages": stages, "microbatches": microbatches, "ranks": ranks, "buckets": buckets}
    given = {size: value for size, value in sizes.items() if value is not None}
    with working(f"making {name}"):
        trace = synth_stage(name, output, seed=seed, events=events, sizes=given, repeat=repeat, profiles=profile)
    size = f"{show_count(len(trace), 'event')}, {show_count(len(trace.events.groups), 'group')}"
    say(f"made {trace.workload_name}: {size}, seed {seed}")
