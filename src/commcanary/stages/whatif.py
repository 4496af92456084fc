"""Stage: a segment of compute and communication -> predicted lengths under other schedules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from commcanary.artifacts.files import check_suffix, write_artifact
from commcanary.artifacts.jsontext import convert
from commcanary.artifacts.stored import Stored
from commcanary.campaign.yaml_text import load_yaml
from commcanary.sources.files import source_files
from commcanary.sources.nccl_tests.calibration import CalibrationSettings, measured_points
from commcanary.sources.nccl_tests.reading import read_nccl_tests
from commcanary.stages.reading import naming
from commcanary.timeline.alpha_beta import fit_alpha_beta
from commcanary.timeline.segment import Segment
from commcanary.timeline.whatif import WHATIF, predict

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.timeline.alpha_beta import AlphaBetaFit
    from commcanary.timeline.splits import Sweep
    from commcanary.timeline.whatif import WhatIf


def whatif_stage(segment_path: Path, output: Path, sweep: Sweep, nccl_tests: Path | None = None) -> WhatIf:
    """Write the predictions for the segment (YAML or JSON) to ``output``.

    The law of the collectives is fitted to the ``nccl_tests`` log where one is given, else it is the segment's.
    """
    check_suffix(output)
    fit = None if nccl_tests is None else _fit_of(nccl_tests)
    with naming(segment_path):
        segment = convert(load_yaml(segment_path), Segment)
        found = predict(segment, sweep, fit, None if nccl_tests is None else f"nccl-tests {nccl_tests.name}")
    inputs = [segment_path] if nccl_tests is None else [segment_path, nccl_tests]
    found = msgspec.structs.replace(found, source_files=source_files(inputs))
    write_artifact(output, WHATIF, Stored(found))
    return found


def _fit_of(log: Path) -> AlphaBetaFit:
    with naming(log):
        points = measured_points(read_nccl_tests(log), CalibrationSettings())
        return fit_alpha_beta([size for size, _ in points], [time for _, time in points])
