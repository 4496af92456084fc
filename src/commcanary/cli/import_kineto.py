"""``commcanary import-kineto``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from commcanary.cli.importing import kernel_rules, offsets_of_ranks, told
from commcanary.cli.options import (
    AssumeDefaultGroup,
    AssumeSharedClock,
    ClockOffsets,
    CommunicationKernels,
    EstimateClock,
    Output,
    Phase,
    PhaseAnnotations,
    Repair,
)
from commcanary.cli.progress import working


def command(
    profiles: Annotated[list[Path], typer.Argument(help="Profiles of one job, one or more ranks.")],
    output: Output,
    workload_name: Annotated[str | None, typer.Option(help="Name of the workload.")] = None,
    phase: Phase = None,
    phase_annotation: PhaseAnnotations = None,
    process_group: Annotated[str | None, typer.Option(help="Import this process group only.")] = None,
    assume_shared_clock: AssumeSharedClock = False,
    estimate_clock: EstimateClock = False,
    clock_offset_us: ClockOffsets = None,
    assume_default_group: AssumeDefaultGroup = False,
    on_error: Annotated[
        Literal["stop", "skip"], typer.Option(help="Refuse, or leave out and count, what is wrong.")
    ] = "stop",
    repair: Repair = False,
    communication_kernel: CommunicationKernels = None,
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
