"""``commcanary import-nccl-inspector``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from commcanary.cli.importing import offsets_of_ranks, told
from commcanary.cli.options import Output
from commcanary.cli.progress import working


def command(
    files: Annotated[list[Path], typer.Argument(help="Files of NCCL's Inspector, JSON lines, one a process.")],
    output: Output,
    workload_name: Annotated[str | None, typer.Option(help="Name of the workload.")] = None,
    phase: Annotated[str | None, typer.Option(help="Phase of every event.")] = None,
    process_group: Annotated[
        str | None, typer.Option(help="Import this communicator only, by its id or its name.")
    ] = None,
    assume_shared_clock: Annotated[
        bool, typer.Option("--assume-shared-clock", help="The hosts' clocks are one.")
    ] = False,
    estimate_clock: Annotated[
        bool, typer.Option("--estimate-clock", help="Fit the hosts' clocks from the ends of collectives.")
    ] = False,
    clock_offset_us: Annotated[
        list[str] | None, typer.Option(metavar="RANK=US", help="Added to a rank's times; one for every rank.")
    ] = None,
    on_error: Annotated[
        Literal["stop", "skip"], typer.Option(help="Refuse, or leave out and count, what is wrong.")
    ] = "stop",
) -> None:
    """Import records of NCCL's Inspector plugin."""
    from commcanary.sources.nccl_inspector.settings import NcclInspectorSettings
    from commcanary.stages.import_nccl_inspector import import_nccl_inspector_stage

    settings = NcclInspectorSettings(
        workload_name=workload_name,
        phase=phase,
        process_group=process_group,
        assume_shared_clock=assume_shared_clock,
        estimate_clock=estimate_clock,
        clock_offsets_us=offsets_of_ranks(clock_offset_us),
        on_error=on_error,
    )
    with working("importing " + ", ".join(path.name for path in files)):
        imported = import_nccl_inspector_stage(files, output, settings)
    told(imported)
