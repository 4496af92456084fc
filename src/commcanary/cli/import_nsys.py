"""``commcanary import-nsys``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from commcanary.cli.importing import kernel_rules, offsets_of_ranks, told
from commcanary.cli.options import Output
from commcanary.cli.progress import working


def command(
    exports: Annotated[list[Path], typer.Argument(help="SQLite exports with blobs, of one node or of all nodes.")],
    output: Output,
    workload_name: Annotated[str | None, typer.Option(help="Name of the workload.")] = None,
    phase: Annotated[str | None, typer.Option(help="Phase of every event, in place of NVTX ranges.")] = None,
    phase_annotation: Annotated[
        list[str] | None, typer.Option(help="NVTX range that is a phase; repeat for several.")
    ] = None,
    process_group: Annotated[str | None, typer.Option(help="Import this communicator only.")] = None,
    trim: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="START END", help="Keep events inside, seconds of the session."),
    ] = None,
    assume_shared_clock: Annotated[
        bool, typer.Option("--assume-shared-clock", help="The clocks of several exports are one.")
    ] = False,
    estimate_clock: Annotated[
        bool, typer.Option("--estimate-clock", help="Fit the clocks of several exports from collectives.")
    ] = False,
    clock_offset_us: Annotated[
        list[str] | None, typer.Option(metavar="RANK=US", help="Added to a rank's times; one for every rank.")
    ] = None,
    assume_default_group: Annotated[
        bool, typer.Option("--assume-default-group", help="Calls without a communicator ran on one of all processes.")
    ] = False,
    assume_all_ranks_captured: Annotated[
        bool, typer.Option("--assume-all-ranks-captured", help="No communicator has ranks outside the exports.")
    ] = False,
    on_error: Annotated[
        Literal["stop", "skip"], typer.Option(help="Refuse, or leave out and count, what is wrong.")
    ] = "stop",
    communication_kernel: Annotated[
        list[str] | None, typer.Option(metavar="FAMILY=REGEX", help="A further communication kernel; repeat.")
    ] = None,
) -> None:
    """Import Nsight Systems exports."""
    from commcanary.sources.nsys.settings import NsysSettings
    from commcanary.stages.import_nsys import import_nsys_stage

    settings = NsysSettings(
        workload_name=workload_name,
        phase=phase,
        phase_annotations=tuple(phase_annotation or ()),
        process_group=process_group,
        trim_s=trim,
        assume_shared_clock=assume_shared_clock,
        estimate_clock=estimate_clock,
        clock_offsets_us=offsets_of_ranks(clock_offset_us),
        assume_default_group=assume_default_group,
        assume_all_ranks_captured=assume_all_ranks_captured,
        on_error=on_error,
        kernel_rules=kernel_rules(communication_kernel),
    )
    with working("importing " + ", ".join(path.name for path in exports)):
        imported = import_nsys_stage(exports, output, settings)
    told(imported)
