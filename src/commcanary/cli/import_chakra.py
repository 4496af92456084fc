"""``commcanary import-chakra``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from commcanary.cli.importing import told
from commcanary.cli.options import Output
from commcanary.cli.progress import working


def command(
    traces: Annotated[list[Path], typer.Argument(help="Execution traces of one job: PyTorch's JSON or Chakra's .et.")],
    output: Output,
    workload_name: Annotated[str | None, typer.Option(help="Name of the workload.")] = None,
    phase: Annotated[str | None, typer.Option(help="Phase of every event.")] = None,
    process_group: Annotated[str | None, typer.Option(help="Import this process group only.")] = None,
    rank: Annotated[list[int] | None, typer.Option(help="Rank of a trace; repeat, once for each in order.")] = None,
    world_size: Annotated[int | None, typer.Option(help="Ranks of the job.")] = None,
    groups: Annotated[Path | None, typer.Option(help="JSON file: ranks of process groups by name.")] = None,
    assume_default_group: Annotated[
        bool, typer.Option("--assume-default-group", help="Calls without a group ran on the default group.")
    ] = False,
    on_error: Annotated[
        Literal["stop", "skip"], typer.Option(help="Refuse, or leave out and count, what is wrong.")
    ] = "stop",
) -> None:
    """Import execution traces, PyTorch's or Chakra's."""
    from commcanary.sources.execution_trace.groups import read_groups
    from commcanary.sources.execution_trace.settings import ExecutionTraceSettings
    from commcanary.stages.import_chakra import import_chakra_stage

    settings = ExecutionTraceSettings(
        workload_name=workload_name,
        phase=phase,
        process_group=process_group,
        ranks=tuple(rank or ()),
        world_size=world_size,
        groups={} if groups is None else read_groups(groups),
        assume_default_group=assume_default_group,
        on_error=on_error,
    )
    with working("importing " + ", ".join(path.name for path in traces)):
        imported = import_chakra_stage(traces, output, settings)
    told(imported)
