"""Stage: nccl-tests logs -> configurations of a campaign, and the calibration behind them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from commcanary.artifacts.atomic import write_text
from commcanary.artifacts.files import write_artifact
from commcanary.artifacts.stored import Stored
from commcanary.campaign.config import NAME_PATTERN
from commcanary.errors import UsageError
from commcanary.sources.files import source_files
from commcanary.sources.nccl_tests.calibration import CALIBRATION, CalibratedTable, Calibration, calibrated
from commcanary.sources.nccl_tests.reading import read_nccl_tests
from commcanary.stages.reading import naming

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from commcanary.sources.nccl_tests.calibration import CalibrationSettings


def calibration_path(output: Path) -> Path:
    """Where the calibration behind the configurations ``output`` lies."""
    return output.with_suffix(".calibration.json")


def calibrate_stage(
    logs: Sequence[Path],
    output: Path,
    names: Sequence[str],
    settings: CalibrationSettings,
    on_error: Literal["stop", "skip"] = "stop",
) -> Calibration:
    """Write one configuration per log to ``output`` (YAML) and fits, residuals and intervals beside it.

    ``names`` are the configurations' names, in the logs' order; without any, those of the files.
    """
    if output.suffix not in (".yaml", ".yml"):
        raise UsageError(f"{output}: the name must end in .yaml")
    chosen = _names(logs, names)
    tables = []
    for path, name in zip(logs, chosen, strict=True):
        with naming(path):
            tables.append(calibrated(name, read_nccl_tests(path, on_error), settings))
    _check_operation(settings.operation, tables)
    calibration = Calibration(tables=tuple(tables), source_files=source_files(logs))
    write_artifact(calibration_path(output), CALIBRATION, Stored(calibration))
    write_text(output, _yaml(calibration))
    return calibration


def _check_operation(given: str | None, tables: Sequence[CalibratedTable]) -> None:
    """Raise ``UsageError`` where the option serves no log, and is not what they measured either."""
    stated = sorted({table.operation for table in tables})
    if given is not None and given not in stated:
        raise UsageError(f"--operation {given} changes nothing: the logs say {', '.join(stated)}; leave it out")


def _names(logs: Sequence[Path], given: Sequence[str]) -> list[str]:
    if given and len(given) != len(logs):
        raise UsageError(f"--name is given {len(given)} times for {len(logs)} logs: give it once a log, or not at all")
    names = list(given) or [re.sub(r"[^A-Za-z0-9._-]", "-", path.stem).lstrip("._-")[:64] for path in logs]
    for name in names:
        if not re.fullmatch(NAME_PATTERN, name):
            raise UsageError(f"--name {name!r}: a name is letters, digits, dot, dash and underscore")
    if len(set(names)) < len(names):
        raise UsageError(f"two logs would be called {max(names, key=names.count)}: tell them apart with --name")
    return names


def _yaml(calibration: Calibration) -> str:
    lines = ["# Fitted by calibrate; the residuals of every size are in the .calibration.json beside this file."]
    lines += [f"# {assumption}." for assumption in calibration.assumptions]
    lines.append("configurations:")
    for table in calibration.tables:
        lines += _entry(table)
    return "\n".join(lines) + "\n"


def _entry(table: CalibratedTable) -> list[str]:
    fit, configuration = table.fit, table.configuration
    return [
        f"  # startup {fit.law.startup_us:.3f} us, {fit.law.bandwidth_gb_s:.6g} GB/s from {len(fit.residuals)} sizes; "
        f"residuals: median {fit.median_residual_pct:.1f} %, largest {fit.largest_residual_pct:.1f} %",
        f"  - name: {configuration.name}",
        f"    label: '{configuration.label}'",
        f"    latency_floor_us: {configuration.latency_floor_us!r}",
        f"    bandwidth_gbps: {configuration.bandwidth_gbps!r}",
    ]
