"""``commcanary reduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from commcanary.cli.options import Assume, Model, Output, numbers
from commcanary.cli.progress import working
from commcanary.cli.say import say


def command(
    trace: Annotated[Path, typer.Argument(help="Trace to reduce.")],
    output: Output,
    configurations: Annotated[
        Path | None, typer.Option(help="File of configurations.  [default: the five named ones]")
    ] = None,
    budget: Annotated[int, typer.Option(min=1, help="Oracle calls at most.")] = 256,
    ranking_tie_us: Annotated[float, typer.Option(min=0.0, help="Configurations tie within this many us.")] = 0.001,
    seed: Annotated[int, typer.Option(help="Seed of the noise.")] = 7,
    model: Model = "scheduler-v4",
    assume: Assume = None,
) -> None:
    """Reduce a trace to the smallest part that ranks configurations as the whole does, and keeps nothing else."""
    from commcanary.replay.configuration import NAMED, Protocol
    from commcanary.stages.configurations import read_configurations
    from commcanary.stages.reduce import reduce_stage

    with working(f"reducing {trace}"):
        reduced = reduce_stage(
            trace,
            output,
            list(NAMED.values()) if configurations is None else read_configurations(configurations),
            Protocol((seed,)),
            model=model,
            assumptions=numbers("--assume", assume),
            budget=budget,
            tie_us=ranking_tie_us,
        )
    lineage = reduced.trace.header.lineage
    before = len(reduced.trace) if lineage is None else lineage.source_events
    spent = " (budget exhausted)" if reduced.budget_exhausted else ""
    say(f"ddmin reduced {before} -> {len(reduced.trace)} events in {reduced.oracle_calls} oracle calls{spent}")
