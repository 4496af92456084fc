"""``commcanary calibrate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from commcanary.cli.options import byte_size
from commcanary.cli.say import say
from commcanary.cli.written import Written

if TYPE_CHECKING:
    from commcanary.sources.nccl_tests.calibration import CalibratedTable

_POOR_FIT_PCT = 20.0
"""From this largest residual on, the law is said to miss the measurements."""


def command(
    logs: Annotated[list[Path], typer.Argument(help="Logs or JSON reports of nccl-tests, one a configuration.")],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="File of configurations to write, .yaml."),
        Written(beside=".calibration.json"),
    ],
    name: Annotated[list[str] | None, typer.Option(help="Name of a configuration; once a log, in order.")] = None,
    operation: Annotated[str | None, typer.Option(help="Operation, where a log does not say it.")] = None,
    place: Annotated[
        Literal["out-of-place", "in-place"], typer.Option(help="Which side of the table is fitted.")
    ] = "out-of-place",
    min_bytes: Annotated[str, typer.Option(help="Smallest fitted size, as 1024 or 1 MiB.")] = "0",
    max_bytes: Annotated[str | None, typer.Option(help="Largest fitted size.")] = None,
    level: Annotated[float, typer.Option(min=0.5, max=0.999, help="Level of the intervals.")] = 0.95,
    on_error: Annotated[
        Literal["stop", "skip"], typer.Option(help="Refuse, or leave out and list, corrupted rows.")
    ] = "stop",
) -> None:
    """Fit startup and bandwidth of nccl-tests logs: configurations for a campaign."""
    from commcanary.sources.nccl_tests.calibration import CalibrationSettings
    from commcanary.stages.calibrate import calibrate_stage, calibration_path

    settings = CalibrationSettings(
        operation,
        "out_of_place" if place == "out-of-place" else "in_place",
        byte_size("--min-bytes", min_bytes),
        None if max_bytes is None else byte_size("--max-bytes", max_bytes),
        level,
    )
    calibration = calibrate_stage(logs, output, name or [], settings, on_error)
    count = len(calibration.tables)
    say(f"calibrated {count} configuration{'s' if count > 1 else ''}; fits in {calibration_path(output)}")
    for table in calibration.tables:
        for line in _lines(table):
            say(line)


def _lines(table: CalibratedTable) -> list[str]:
    fit, configuration = table.fit, table.configuration
    lines = [
        f"{table.name}: {table.operation} on {table.ranks} ranks, {len(fit.residuals)} sizes from "
        f"{fit.residuals[0].bytes:,} to {fit.residuals[-1].bytes:,} B, {table.side.replace('_', ' ')}",
        f"  startup {fit.law.startup_us:.3f} us {_interval(fit.startup_interval_us, fit.level)}, "
        f"bandwidth {fit.law.bandwidth_gb_s:.6g} GB/s {_interval(fit.bandwidth_interval_gb_s, fit.level)}",
        f"  residuals: median {fit.median_residual_pct:.1f} %, largest {fit.largest_residual_pct:.1f} %",
        f"  latency_floor_us {configuration.latency_floor_us:.3f}, bandwidth_gbps {configuration.bandwidth_gbps:.6g}",
    ]
    if fit.largest_residual_pct > _POOR_FIT_PCT:
        worst = max(fit.residuals, key=lambda residual: abs(residual.residual_pct))
        lines.append(
            f"  one startup and one bandwidth miss {worst.bytes:,} B by {worst.residual_pct:.1f} % of its time: "
            "fit the sizes of your job alone (--min-bytes, --max-bytes)"
        )
    if not table.complete:
        lines.append("  the run's footer is missing: it was cut short, or the log was")
    lines += [f"  left out {row.place}: {row.reason}" for row in table.skipped]
    return lines


def _interval(interval: tuple[float, float] | tuple[float, float | None] | None, level: float) -> str:
    if interval is None:
        return "(interval unknown: two sizes)"
    low, high = interval
    return f"({100 * level:g} %: {low:.6g} to {'unbounded' if high is None else f'{high:.6g}'})"
