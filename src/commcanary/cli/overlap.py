"""``commcanary overlap``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from commcanary.cli.importing import kernel_rules, offsets_of_ranks
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
    without_effect,
)
from commcanary.cli.progress import working
from commcanary.cli.say import say
from commcanary.cli.written import Written
from commcanary.errors import UsageError

if TYPE_CHECKING:
    from commcanary.timeline.phase_anchors import PhaseAnchors


def command(
    profiles: Annotated[list[Path], typer.Argument(help="Profiles of one job, one or more ranks; or Nsight exports.")],
    output: Output,
    trim: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="START END", help="Window in seconds from the profile's first event."),
    ] = None,
    edges: Annotated[
        Literal["clip", "inside"], typer.Option(help="Cut kernels at a window's edges, or leave them out.")
    ] = "clip",
    range_: Annotated[
        list[str] | None, typer.Option("--range", metavar="REGEX", help="Annotations that become windows; repeat.")
    ] = None,
    device: Annotated[str | None, typer.Option(help="Measure the devices of this number alone.")] = None,
    convention: Annotated[
        Literal["exact", "hta"], typer.Option(help="Whose definitions: ours, or Holistic Trace Analysis's.")
    ] = "exact",
    last_step: Annotated[
        Literal["keep", "drop"] | None, typer.Option(help="Kernels of the last profiler step; exact: keep, hta: drop.")
    ] = None,
    rounding: Annotated[
        Literal["ns", "us"] | None, typer.Option(help="Round kernels inwards to this; exact: ns, hta: us.")
    ] = None,
    phase: Phase = None,
    phase_annotation: PhaseAnnotations = None,
    phase_anchor: Annotated[
        list[str] | None,
        typer.Option(metavar="PHASE=REGEX", help="Kernels that start forward and backward, if nothing is annotated."),
    ] = None,
    step_gap_ms: Annotated[
        float | None, typer.Option(min=0.0, help="With anchors: a longer gap starts a step.  [default: 1]")
    ] = None,
    assume_shared_clock: AssumeSharedClock = False,
    estimate_clock: EstimateClock = False,
    clock_offset_us: ClockOffsets = None,
    assume_default_group: AssumeDefaultGroup = False,
    repair: Repair = False,
    communication_kernel: CommunicationKernels = None,
    against: Annotated[
        list[Path] | None, typer.Option(help="The same job before: its overlap document, or its profiles; repeat.")
    ] = None,
    nccl_tests: Annotated[
        list[Path] | None, typer.Option(metavar="LOG", help="Hold collectives against this nccl-tests log; repeat.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Also write a page with figures."), Written()] = None,
    figures: Annotated[
        Path | None, typer.Option(help="Also write the figures into this folder, as SVG."), Written(files="*.svg")
    ] = None,
) -> None:
    """Measure how much communication ran beside compute, and how much was exposed."""
    from commcanary.cli.overlap_lines import overlap_lines
    from commcanary.sources.kineto.settings import KinetoSettings
    from commcanary.stages.overlap import overlap_stage
    from commcanary.timeline.conventions import Convention
    from commcanary.timeline.measure import OverlapSettings
    from commcanary.timeline.windows import WindowSettings

    reading = KinetoSettings(
        phase=phase,
        phase_annotations=tuple(phase_annotation or ()),
        assume_shared_clock=assume_shared_clock,
        estimate_clock=estimate_clock,
        clock_offsets_us=offsets_of_ranks(clock_offset_us),
        assume_default_group=assume_default_group,
        repair=repair,
        kernel_rules=kernel_rules(communication_kernel),
    )
    settings = OverlapSettings(
        convention=Convention(convention, last_step, rounding),
        windows=WindowSettings(trim, edges, tuple(range_ or ())),
        anchors=_anchors(phase_anchor, step_gap_ms),
        device=device,
    )
    with working("measuring " + ", ".join(path.name for path in profiles)):
        overlap = overlap_stage(profiles, output, reading, settings, against or (), nccl_tests or ())
    for line in overlap_lines(overlap):
        say(line)
    if html is not None:
        from commcanary.reporting.overlap_page import write_overlap_page

        write_overlap_page(overlap, html)
    if figures is not None:
        from commcanary.reporting.overlap_figures import write_overlap_figures

        write_overlap_figures(overlap, figures)


def _anchors(given: list[str] | None, step_gap_ms: float | None) -> PhaseAnchors | None:
    from commcanary.timeline.phase_anchors import PHASES, STEP_GAP_US, PhaseAnchors

    if not given:
        without_effect({"--step-gap-ms": step_gap_ms}, "it goes with --phase-anchor")
        return None
    patterns = dict(text.partition("=")[::2] for text in given)
    if sorted(patterns) != sorted(PHASES) or len(given) != len(PHASES):
        raise UsageError("--phase-anchor: give forward=REGEX and backward=REGEX, once each")
    gap_us = STEP_GAP_US if step_gap_ms is None else step_gap_ms * 1000
    return PhaseAnchors(patterns["forward"], patterns["backward"], gap_us)
