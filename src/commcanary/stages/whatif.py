"""Stage: a segment of compute and communication -> predicted lengths under other schedules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from commcanary.artifacts.files import check_suffix, write_artifact
from commcanary.artifacts.jsontext import convert
from commcanary.artifacts.stored import Stored
from commcanary.campaign.yaml_text import load_yaml
from commcanary.sources.files import source_files
from commcanary.sources.kineto.timelines import read_timelines
from commcanary.sources.nccl_tests.calibration import CalibrationSettings, measured_points
from commcanary.sources.nccl_tests.reading import read_nccl_tests
from commcanary.stages.reading import naming
from commcanary.timeline.alpha_beta import fit_alpha_beta
from commcanary.timeline.measured_segment import measured_segment
from commcanary.timeline.segment import Segment
from commcanary.timeline.whatif import WHATIF, predict

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.sources.kineto.settings import KinetoSettings
    from commcanary.timeline.alpha_beta import AlphaBetaFit
    from commcanary.timeline.splits import Sweep
    from commcanary.timeline.whatif import WhatIf


def whatif_stage(segment_path: Path, output: Path, sweep: Sweep, nccl_tests: Path | None = None) -> WhatIf:
    """Write the predictions for the segment (YAML or JSON) to ``output``.

    The law of the collectives is fitted to the ``nccl_tests`` log where one is given, else it is the segment's.
    """
    check_suffix(output)
    with naming(segment_path):
        segment = convert(load_yaml(segment_path), Segment)
    return _predicted(segment, segment_path, output, sweep, nccl_tests)


def whatif_of_profile_stage(
    profile: Path,
    output: Path,
    sweep: Sweep,
    nccl_tests: Path | None = None,
    *,
    step: str | None = None,
    operation: str | None = None,
    even_ready: bool = False,
    settings: KinetoSettings | None = None,
) -> WhatIf:
    """The same for one step of the Kineto ``profile`` of one rank; the options are those of ``measured_segment``."""
    check_suffix(output)
    with naming(profile):
        (first, *_) = read_timelines([profile], settings).reads
        segment = measured_segment(first.timeline, step, operation, even_ready=even_ready)
    return _predicted(segment, profile, output, sweep, nccl_tests)


def _predicted(segment: Segment, source: Path, output: Path, sweep: Sweep, nccl_tests: Path | None) -> WhatIf:
    fit = None if nccl_tests is None else _fit_of(nccl_tests)
    with naming(source):
        found = predict(segment, sweep, fit, None if nccl_tests is None else f"nccl-tests {nccl_tests.name}")
    inputs = [source] if nccl_tests is None else [source, nccl_tests]
    found = msgspec.structs.replace(found, source_files=source_files(inputs))
    write_artifact(output, WHATIF, Stored(found))
    return found


def _fit_of(log: Path) -> AlphaBetaFit:
    with naming(log):
        points = measured_points(read_nccl_tests(log), CalibrationSettings())
        return fit_alpha_beta([size for size, _ in points], [time for _, time in points])
