"""``commcanary whatif``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from commcanary.cli.options import Output, without_effect
from commcanary.cli.say import say
from commcanary.errors import UsageError
from commcanary.units import show_bytes, show_count

if TYPE_CHECKING:
    from commcanary.timeline.whatif import Outcome, WhatIf

_SHOWN = 5
"""Variants that are printed, best first; all of them are in the file."""


def command(
    output: Output,
    segment: Annotated[
        Path | None, typer.Argument(help="Segment: compute, buckets and variants, .yaml or .json.")
    ] = None,
    profile: Annotated[
        Path | None, typer.Option(help="In place of a segment: a Kineto profile, one step of which is it.")
    ] = None,
    step: Annotated[str | None, typer.Option(help="That step, as ProfilerStep#3; default: of median length.")] = None,
    operation: Annotated[
        str | None, typer.Option(help="The profile's buckets; default: what moves most bytes.")
    ] = None,
    assume_even_ready: Annotated[
        bool,
        typer.Option("--assume-even-ready", help="Parts of a bucket become ready evenly since the one before it."),
    ] = False,
    split: Annotated[str | None, typer.Option(metavar="BUCKET", help="Sweep the sizes of this bucket's parts.")] = None,
    parts: Annotated[int | None, typer.Option(min=2, max=6, help="Most parts of a split.  [default: 2]")] = None,
    grid: Annotated[
        int | None, typer.Option(min=2, max=1000, help="Places at which a bucket is cut at most.  [default: 12]")
    ] = None,
    orders: Annotated[bool, typer.Option("--orders", help="Sweep the orders of the buckets, too.")] = False,
    nccl_tests: Annotated[
        Path | None, typer.Option(metavar="LOG", help="Fit startup and bandwidth to this log.")
    ] = None,
) -> None:
    """Predict what splitting, moving or reordering buckets would do to a segment."""
    from commcanary.stages.whatif import whatif_of_profile_stage, whatif_stage
    from commcanary.timeline.splits import GRID, PARTS, Sweep

    if split is None:
        without_effect({"--parts": parts, "--grid": grid}, "it goes with --split")
    sweep = Sweep(split, parts or PARTS, grid or GRID, orders)
    if segment is not None and profile is None:
        if step is not None or operation is not None or assume_even_ready:
            raise UsageError("--step, --operation and --assume-even-ready say what a --profile's segment is")
        found = whatif_stage(segment, output, sweep, nccl_tests)
    elif profile is not None and segment is None:
        found = whatif_of_profile_stage(
            profile, output, sweep, nccl_tests, step=step, operation=operation, even_ready=assume_even_ready
        )
    else:
        raise UsageError("give a segment or --profile, one of them")
    for line in _lines(found, measured=profile is not None):
        say(line)


def _lines(found: WhatIf, *, measured: bool) -> list[str]:
    """``measured``: the segment is a profile's, whose compute is all time but that of waits."""
    law = found.law
    lines = [
        f"prediction for {found.segment.name}: startup {law.startup_us:.3f} us, {law.bandwidth_gb_s:.6g} GB/s "
        f"({found.law_from})"
    ]
    if found.fit is not None:
        lines.append(
            f"residuals of the law: median {found.fit.median_residual_pct:.1f} %, "
            f"largest {found.fit.largest_residual_pct:.1f} %"
        )
    if found.model_check is not None:
        check = found.model_check
        lines.append(
            f"measured {check.measured_us:.3f} us, the model says {check.predicted_us:.3f} us "
            f"({check.error_pct:+.1f} %)"
            + (f": smaller gains than {abs(check.error_us):.3f} us mean nothing" if check.error_us else "")
        )
    elif found.segment.measured_us is not None:
        lines.append(f"measured {found.segment.measured_us:.3f} us; the model is not checked: {found.model_unchecked}")
    ranked = sorted(found.variants, key=lambda outcome: (outcome.step_us, outcome.startups))
    compute = "all but waits" if measured else "compute"
    lines += [_line(outcome, compute) for outcome in (found.outcome, *ranked[:_SHOWN])]
    if len(ranked) > _SHOWN:
        lines.append(f"and {len(ranked) - _SHOWN} more variants in the file")
    if found.skipped:
        lines.append(f"{len(found.skipped)} orders would stand still: {found.skipped[0]}")
    lines += [f"assumed: {assumption}" for assumption in found.assumptions]
    return lines


def _line(outcome: Outcome, compute: str) -> str:
    between = (
        "" if outcome.low_us is None or outcome.high_us is None else (f" [{outcome.low_us:.3f}, {outcome.high_us:.3f}]")
    )
    return (
        f"{outcome.name}: {outcome.step_us:.3f} us{between} = {compute} {outcome.compute_us:.3f} + tail "
        f"{outcome.tail_us:.3f} + slowdown {outcome.slowdown_us:.3f}; gain {outcome.gain_us:.3f} us "
        f"({outcome.gain_without_interference_us:.3f} without interference), "
        f"{show_count(outcome.startups, 'startup')}, peak buffer {show_bytes(outcome.peak_buffer_bytes)}"
    )
