"""``commcanary import-kineto``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from commcanary.cli.importing import kernel_rules, offsets_of_ranks, told
from commcanary.cli.options import Output
from commcanary.cli.progress import working


def command(
    profiles: Annotated[list[Path], typer.Argument(help="Profiles of one job, one or more ranks.")],
    output: Output,
    workload_name: Annotated[str | None, typer.Option(help="Name of the workload.")] = None,
    phase: Annotated[str | None, typer.Option(help="Phase of every event, in place of annotations.")] = None,
    phase_annotation: Annotated[
        list[str] | None, typer.Option(help="Annotation that is a phase; repeat for several.")
    ] = None,
    process_group: Annotated[str | None, typer.Option(help="Import this process group only.")] = None,
    assume_shared_clock: Annotated[
        bool, typer.Option("--assume-shared-clock", help="The ranks' clocks are one.")
    ] = False,
    estimate_clock: Annotated[
        bool, typer.Option("--estimate-clock", help="Fit the ranks' clocks from collectives.")
    ] = False,
    clock_offset_us: Annotated[
        list[str] | None, typer.Option(metavar="RANK=US", help="Added to a rank's times; one for every rank.")
    ] = None,
    assume_default_group: Annotated[
        bool, typer.Option("--assume-default-group", help="Calls without a group ran on the default group.")
    ] = False,
    on_error: Annotated[
        Literal["stop", "skip"], typer.Option(help="Refuse, or leave out and count, what is wrong.")
    ] = "stop",
    repair: Annotated[bool, typer.Option("--repair", help="Mend known faults of the profiler's JSON.")] = False,
    communication_kernel: Annotated[
        list[str] | None, typer.Option(metavar="FAMILY=REGEX", help="A further communication kernel; repeat.")
    ] = None,
) -> None:
    """Import PyTorch Kineto profiles."""
    from commcanary.sources.kineto.settings import KinetoSettings
    from commcanary.stages.import_kineto import import_kineto_stage

    settings = KinetoSettings(
        workload_name=workload_name,
        phase=phase,
        phase_annotations=tuple(phase_annotation or ()),
        process_group=process_group,
        assume_shared_clock=assume_shared_clock,
        estimate_clock=estimate_clock,
        clock_offsets_us=offsets_of_ranks(clock_offset_us),
        assume_default_group=assume_default_group,
        on_error=on_error,
        repair=repair,
        kernel_rules=kernel_rules(communication_kernel),
    )
    with working("importing " + ", ".join(path.name for path in profiles)):
        imported = import_kineto_stage(profiles, output, settings)
    told(imported)
