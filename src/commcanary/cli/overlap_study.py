"""``commcanary overlap-study``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from commcanary.cli.options import Output
from commcanary.cli.progress import working
from commcanary.cli.say import say
from commcanary.errors import EXIT_DONE, EXIT_NEGATIVE_VERDICT

if TYPE_CHECKING:
    from commcanary.judge.study_document import OverlapStudy, RankStudy
    from commcanary.timeline.three_runs import Slowdown

_SHOWN = 3
"""Kernels a rank that are printed; all of them are in the file."""


def command(
    compute: Annotated[list[Path], typer.Option(help="Profile of the compute alone; once a rank and repeat.")],
    communication: Annotated[list[Path], typer.Option(help="Profile of the communication alone; likewise.")],
    overlapped: Annotated[list[Path], typer.Option(help="Profile of both at once; likewise.")],
    output: Output,
    correctness: Annotated[
        Path | None, typer.Option(help="The job's comparison of its results with the other schedule's, .json.")
    ] = None,
    ignore_kernel: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Compute that belongs to the communication; repeat.")
    ] = None,
) -> int:
    """Compare compute alone, communication alone and both at once: who slows down, what is gained."""
    from commcanary.judge.study_document import WORSE, WRONG_RESULTS
    from commcanary.stages.overlap_study import overlap_study_stage

    with working("reading three runs"):
        found = overlap_study_stage(
            compute, communication, overlapped, output, correctness=correctness, ignored=ignore_kernel or []
        )
    for line in lines(found):
        say(line)
    return EXIT_NEGATIVE_VERDICT if found.verdict.outcome in (WORSE, WRONG_RESULTS) else EXIT_DONE


def lines(found: OverlapStudy) -> list[str]:
    """What the study says, in lines."""
    said = [f"overlapped is {found.verdict.outcome}: {found.verdict.reason}"]
    said += [f"{side.name}: ranks {list(side.ranks)}, {side.repeats} x {side.steps} steps" for side in found.sides]
    for rank in found.ranks:
        said += _rank(rank)
    for name in ("correctness", "message_sizes", "shapes"):
        outcome = getattr(found, name)
        said.append(f"{name.replace('_', ' ')} {outcome.outcome}: {outcome.reason}")
    for memory in found.memory:
        said.append(
            f"memory of {memory.side}: {(memory.unknown and f'unknown, {memory.unknown}') or memory.peak_allocated}"
        )
    for counters in found.counters:
        shown = (
            f"unknown, {counters.unknown}"
            if counters.values is None
            else ", ".join(f"{name} median {values.median:g}" for name, values in counters.values.items())
        )
        said.append(f"counters of {counters.side}: {shown}")
    return said + [f"assumed: {assumption}" for assumption in found.assumptions]


def _rank(rank: RankStudy) -> list[str]:
    e = rank.equation_ns
    us = {name: getattr(e, name) / 1000 for name in e.__struct_fields__ if name != "steps"}
    return [
        f"rank {rank.rank}: compute {_slowdown(rank.compute)}, communication {_slowdown(rank.communication)}",
        f"  exposed {rank.exposed_us.median:.3f} us (p90 {rank.exposed_us.p90:.3f}), tail {rank.tail_us.median:.3f} us "
        f"(p90 {rank.tail_us.p90:.3f}), hidden {rank.hidden_us.median:.3f} us",
        f"  before {us['before']:.3f} us = compute {us['compute_alone']:.3f} + idle {us['idle_compute_alone']:.3f} + "
        f"communication {us['communication_alone']:.3f} + idle {us['idle_communication_alone']:.3f}",
        f"  after {us['after']:.3f} us = compute {us['compute_alone']:.3f} + slowdown {us['compute_slowdown']:.3f} + "
        f"exposed {us['exposed']:.3f} + idle {us['idle']:.3f}",
        f"  gain {us['gain']:.3f} us = hidden {us['hidden']:.3f} - compute slowdown {us['compute_slowdown']:.3f} - "
        f"communication slowdown {us['communication_slowdown']:.3f} + idle gone {us['idle_gone']:.3f} "
        f"(perfect overlap: {us['promised']:.3f})",
        *(
            f"  {kernel.name}: {_slowdown(kernel.slowdown)}, {kernel.added_us:+.3f} us a step"
            for kernel in (*rank.kernels[:_SHOWN], *rank.collectives[:_SHOWN])
        ),
    ]


def _slowdown(slowdown: Slowdown) -> str:
    ratio = (
        ""
        if slowdown.ratio is None
        else (f" ({slowdown.ratio.median:.2f}x, p10 {slowdown.ratio.p10:.2f}x, p90 {slowdown.ratio.p90:.2f}x)")
    )
    return f"{slowdown.alone_us.median:.3f} -> {slowdown.overlapped_us.median:.3f} us{ratio}"
