"""Phases from kernels whose names mark them."""

from __future__ import annotations

import pytest

from commcanary.errors import UsageError
from commcanary.timeline.late_ranks import Meetings
from commcanary.timeline.measure import OverlapSettings, measure
from commcanary.timeline.phase_anchors import PhaseAnchors, anchored

from .timelines import NAMES, K, kernels, timeline

GEMM, NORM, NCCL = 0, 1, 2
MS = 1_000_000
# two steps, 3 ms apart: embedding (unknown), forward from the gemm, backward from the norm
ROWS = [
    K(0, 100, name=NCCL, kind="all_reduce"),
    K(100, 200, name=GEMM),
    K(200, 300, name=GEMM),
    K(300, 400, name=NORM),
    K(350, 600, name=NCCL, kind="all_reduce"),
    K(3 * MS, 3 * MS + 100, name=NORM),  # before the forward anchor of its step
    K(3 * MS + 100, 3 * MS + 200, name=GEMM),
    K(3 * MS + 300, 3 * MS + 400, name=NORM),
]


def test_each_step_has_its_own_anchors() -> None:
    found = anchored(kernels(ROWS), NAMES, PhaseAnchors("gemm", "norm"))
    assert found.phase.tolist() == [-1, 0, 0, 1, 1, -1, 0, 1]


def test_without_a_gap_there_is_one_step() -> None:
    found = anchored(kernels(ROWS), NAMES, PhaseAnchors("gemm", "norm", step_gap_us=5_000))
    assert found.phase.tolist() == [-1, 0, 0, 1, 1, 1, 1, 1]


def test_anchors_are_labelled_approximate_and_annotations_come_first() -> None:
    settings = OverlapSettings(anchors=PhaseAnchors("gemm", "norm"))
    alone = Meetings(unknown="one rank")
    (device,) = measure([timeline(ROWS)], alone, settings).devices
    assert device.phases == "anchors (approximate)"
    assert {cell.phase for cell in device.cells} == {"forward", "backward", "unknown"}
    (device,) = measure([timeline([row._replace(phase=0) for row in ROWS])], alone, settings).devices
    assert device.phases == "annotations"
    overlap = measure([timeline(ROWS)], alone, OverlapSettings())
    assert overlap.devices[0].phases == "none"
    assert "--phase-anchor" in overlap.unknown["phases"]


def test_a_pattern_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match=r"--phase-anchor '\['"):
        anchored(kernels(ROWS), NAMES, PhaseAnchors("[", "norm"))
