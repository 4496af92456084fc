"""``commcanary replay``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from commcanary.cli.options import Assume, Model, Output, assumption_lines, numbers
from commcanary.cli.progress import working
from commcanary.cli.say import say
from commcanary.cli.written import Written
from commcanary.errors import UsageError


def command(
    canary: Annotated[Path, typer.Argument(help="Canary to replay.")],
    output: Output,
    model: Model = "scheduler-v4",
    configuration: Annotated[str, typer.Option(help="Named configuration to start from.")] = "baseline",
    bandwidth_gbps: Annotated[float | None, typer.Option(help="Link bandwidth in Gbit/s.")] = None,
    latency_floor_us: Annotated[float | None, typer.Option(help="Latency floor in us.")] = None,
    compute_pressure: Annotated[float | None, typer.Option(help="Compute pressure, no unit.")] = None,
    overlap_efficiency: Annotated[float | None, typer.Option(help="Overlap efficiency, 0 to 1.")] = None,
    iterations: Annotated[int, typer.Option(help="Iterations per seed.")] = 1,
    seed: Annotated[list[int] | None, typer.Option(help="Seed of the noise; repeat for several.  [default: 7]")] = None,
    ablate: Annotated[list[str] | None, typer.Option(help="Aspect to leave out; repeat for several.")] = None,
    assume: Assume = None,
    include_samples: Annotated[bool, typer.Option("--include-samples", help="Keep samples in a JSON report.")] = False,
    html: Annotated[Path | None, typer.Option(help="Also write the report as a page."), Written()] = None,
) -> None:
    """Replay a canary under one configuration."""
    from commcanary.replay.configuration import NAMED, Protocol, changed
    from commcanary.replay.model import model_named
    from commcanary.stages.replay import replay_stage

    if configuration not in NAMED:
        raise UsageError(f"--configuration {configuration}: known are {', '.join(NAMED)}")
    given = {
        "bandwidth_gbps": bandwidth_gbps,
        "latency_floor_us": latency_floor_us,
        "compute_pressure": compute_pressure,
        "overlap_efficiency": overlap_efficiency,
    }
    changes = {name: value for name, value in given.items() if value is not None}
    unread = [name for name in changes if name not in model_named(model).reads]
    if unread:
        raise UsageError(f"--{unread[0].replace('_', '-')} changes nothing: {model} does not read {unread[0]}")
    assumptions = numbers("--assume", assume)
    with working(f"replaying {canary}"):
        report = replay_stage(
            canary,
            output,
            changed(configuration, changes),
            Protocol(tuple(seed or [7]), iterations, tuple(ablate or [])),
            model=model,
            assumptions=assumptions,
            include_samples=include_samples,
        )
    header = report.header
    metrics = header.metrics
    say(
        f"replayed {header.canary.source_events} events: median={metrics.median_us:.3f} us "
        f"p95={metrics.p95_us:.3f} us p99={metrics.p99_us:.3f} us hidden={metrics.communication_hidden_pct:.2f}%"
        + ("" if header.schedule is None else f" makespan={header.schedule.makespan_us:.3f} us")
    )
    for line in assumption_lines(assumptions, header.assumptions):
        say(line)
    if html is not None:
        from commcanary.reporting.report_page import write_report_page

        write_report_page(report.header, html)
