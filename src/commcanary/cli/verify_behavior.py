"""``commcanary verify-behavior``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from commcanary.cli.options import Assume, Model, Output, assumption_lines, numbers
from commcanary.cli.progress import working
from commcanary.cli.say import say


def command(
    trace: Annotated[Path, typer.Argument(help="Source of the canary.")],
    canary: Annotated[Path, typer.Argument(help="Canary to verify.")],
    output: Output,
    configurations: Annotated[
        Path | None, typer.Option(help="File of configurations.  [default: the five named ones]")
    ] = None,
    held_out: Annotated[Path | None, typer.Option(help="File of configurations to report apart.")] = None,
    model: Model = "scheduler-v4",
    seed: Annotated[list[int] | None, typer.Option(help="Seed of the noise; repeat for several.  [default: 7]")] = None,
    iterations: Annotated[int, typer.Option(help="Iterations per seed.")] = 1,
    absolute_us: Annotated[float, typer.Option(help="Latencies pass within this many us ...")] = 1.0,
    relative_pct: Annotated[float, typer.Option(help="... or within this percentage of the source.")] = 10.0,
    makespan_pct: Annotated[float, typer.Option(help="The makespan passes within this percentage.")] = 2.0,
    hidden_points: Annotated[float, typer.Option(help="Hidden share passes within these points.")] = 5.0,
    tail_recall: Annotated[float, typer.Option(help="Share of the slowest events to find again.")] = 0.80,
    ranking_tie_us: Annotated[float, typer.Option(help="Configurations tie within this many us.")] = 0.001,
    assume: Assume = None,
) -> int:
    """Verify that a canary behaves like its source and ranks configurations like it."""
    from commcanary.judge.tolerances import Tolerances
    from commcanary.judge.verify_behavior import behavior_exit_code
    from commcanary.replay.configuration import NAMED, Protocol
    from commcanary.stages.configurations import read_configurations
    from commcanary.stages.verify_behavior import verify_behavior_stage

    assumptions = numbers("--assume", assume)
    with working(f"verifying {canary}"):
        verification = verify_behavior_stage(
            trace,
            canary,
            output,
            list(NAMED.values()) if configurations is None else read_configurations(configurations),
            Tolerances(
                absolute_us=absolute_us,
                relative_pct=relative_pct,
                makespan_pct=makespan_pct,
                hidden_points=hidden_points,
                tail_recall=tail_recall,
                ranking_tie_us=ranking_tie_us,
            ),
            Protocol(tuple(seed or [7]), iterations),
            model=model,
            assumptions=assumptions,
            held_out=() if held_out is None else read_configurations(held_out),
        )
    say(f"behavior verification: {verification.status}")
    for name in (
        "representation_fidelity_status",
        "source_verified_status",
        "source_coverage_status",
        "behavioral_fidelity_status",
        "configuration_ranking_status",
    ):
        say(f"{name}: {getattr(verification, name)}")
    for configuration in verification.configurations:
        say(f"configuration {configuration.name}: {configuration.status}")
    if verification.held_out is not None:
        say(f"held out: {verification.held_out.status}")
    for line in assumption_lines(assumptions, verification.assumptions):
        say(line)
    for line in verification.remarks:
        say(f"remark: {line}")
    for line in (*verification.blocked_by, *verification.reasons[:5]):
        say(f"- {line}")
    if len(verification.reasons) > 5:
        say(f"and {len(verification.reasons) - 5} more reasons in {output}")
    return behavior_exit_code(verification)
