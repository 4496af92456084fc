"""``commcanary import-nccl-log``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from commcanary.cli.importing import offsets_of_ranks, told
from commcanary.cli.options import Output
from commcanary.cli.progress import working


def command(
    logs: Annotated[list[Path], typer.Argument(help="Debug logs of NCCL, one a process.")],
    output: Output,
    workload_name: Annotated[str | None, typer.Option(help="Name of the workload.")] = None,
    phase: Annotated[str | None, typer.Option(help="Phase of every event.")] = None,
    process_group: Annotated[str | None, typer.Option(help="Import this communicator only, by its name.")] = None,
    rank: Annotated[
        list[int] | None, typer.Option(help="Rank of a log in the default group; repeat, once for each in order.")
    ] = None,
    assume_default_group: Annotated[
        bool,
        typer.Option("--assume-default-group", help="Communicators of unknown creation are the group of all ranks."),
    ] = False,
    assume_shared_clock: Annotated[
        bool, typer.Option("--assume-shared-clock", help="The hosts' clocks are one.")
    ] = False,
    clock_offset_us: Annotated[
        list[str] | None, typer.Option(metavar="RANK=US", help="Added to a rank's times; one for every rank.")
    ] = None,
    on_error: Annotated[
        Literal["stop", "skip"], typer.Option(help="Refuse, or leave out and count, what is wrong.")
    ] = "stop",
) -> None:
    """Import debug logs of NCCL: order and sizes of calls, no durations."""
    from commcanary.sources.nccl_log.settings import NcclLogSettings
    from commcanary.stages.import_nccl_log import import_nccl_log_stage

    settings = NcclLogSettings(
        workload_name=workload_name,
        phase=phase,
        process_group=process_group,
        ranks=tuple(rank or ()),
        assume_default_group=assume_default_group,
        assume_shared_clock=assume_shared_clock,
        clock_offsets_us=offsets_of_ranks(clock_offset_us),
        on_error=on_error,
    )
    with working("importing " + ", ".join(path.name for path in logs)):
        imported = import_nccl_log_stage(logs, output, settings)
    told(imported)
