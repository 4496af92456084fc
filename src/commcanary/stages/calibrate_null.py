"""Stage: canary -> how often the gate raises a false alarm on it, and how often it catches a slower tail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commcanary.artifacts.files import check_suffix, write_artifact
from commcanary.artifacts.jsontext import convert
from commcanary.artifacts.stored import Stored
from commcanary.judge.null_calibration import NULL_CALIBRATION, CalibrationSettings, null_calibration
from commcanary.judge.thresholds import Thresholds
from commcanary.replay.configuration import Configuration
from commcanary.stages.reading import naming, read_canary

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from commcanary.judge.null_calibration import NullCalibration


def calibrate_null_stage(
    canary_path: Path,
    output: Path,
    configuration: Mapping[str, Any],
    settings: Mapping[str, Any],
    thresholds: Mapping[str, Any],
    *,
    model: str,
    assumptions: Mapping[str, float],
) -> NullCalibration:
    """Compare a canary with itself under one configuration, many times; settings come as plain data."""
    check_suffix(output)
    canary = read_canary(canary_path)
    with naming(canary_path):
        calibration = null_calibration(
            canary,
            model,
            convert(configuration, Configuration),
            convert(settings, CalibrationSettings),
            convert(thresholds, Thresholds),
            assumptions,
        )
    write_artifact(output, NULL_CALIBRATION, Stored(calibration))
    return calibration
