"""``commcanary import-flight-recorder``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from commcanary.cli.importing import offsets_of_ranks, told
from commcanary.cli.options import Output
from commcanary.cli.progress import working


def command(
    dumps: Annotated[list[Path], typer.Argument(help="Dumps of one job, JSON or pickle, one a rank.")],
    output: Output,
    workload_name: Annotated[str | None, typer.Option(help="Name of the workload.")] = None,
    phase: Annotated[str | None, typer.Option(help="Phase of every event.")] = None,
    process_group: Annotated[str | None, typer.Option(help="Import this process group only.")] = None,
    rank: Annotated[list[int] | None, typer.Option(help="Rank of a dump; repeat, once for each in order.")] = None,
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
    """Import dumps of PyTorch's Flight Recorder."""
    from commcanary.sources.flight_recorder.settings import FlightRecorderSettings
    from commcanary.stages.import_flight_recorder import import_flight_recorder_stage

    settings = FlightRecorderSettings(
        workload_name=workload_name,
        phase=phase,
        process_group=process_group,
        ranks=tuple(rank or ()),
        assume_shared_clock=assume_shared_clock,
        clock_offsets_us=offsets_of_ranks(clock_offset_us),
        on_error=on_error,
    )
    with working("importing " + ", ".join(path.name for path in dumps)):
        imported = import_flight_recorder_stage(dumps, output, settings)
    told(imported)
