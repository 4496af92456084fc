"""Holistic Trace Analysis's convention, habit by habit."""

from __future__ import annotations

import pytest

from commcanary.timeline.conventions import Convention
from commcanary.timeline.late_ranks import Meetings
from commcanary.timeline.measure import OverlapSettings, measure
from commcanary.timeline.overlap import Overlap

from .timelines import K, ranges, timeline

GEMM, NCCL, MULTIMEM = 0, 2, 3
STEPS = ranges(("ProfilerStep#1", 0, 9_000), ("ProfilerStep#2", 9_000, 20_000))


def measured(convention: Convention, kernels: list[K], one_step: bool = False) -> Overlap:
    steps = ranges(("ProfilerStep#1", 0, 20_000)) if one_step else STEPS
    one = timeline(kernels, steps=steps)
    return measure([one], Meetings(unknown="one rank"), OverlapSettings(convention=convention))


STEP_KERNELS = [
    K(1_000, 3_000, launch=10, name=GEMM),
    K(2_000, 5_000, "all_reduce", launch=20, name=NCCL),
    K(12_000, 14_000, launch=9_000, name=GEMM),
    K(12_000, 14_000, "all_reduce", launch=9_500, name=NCCL),
    K(15_000, 19_000, "all_reduce", name=NCCL),  # nobody launched it
]


@pytest.mark.parametrize(
    ("convention", "communication", "both"),
    [
        (Convention("exact"), 9_000, 3_000),
        (Convention("hta"), 3_000, 1_000),  # the last step's kernels are gone
        (Convention("hta", "keep"), 5_000, 3_000),  # only what no step launched is gone
        (Convention("exact", "drop"), 3_000, 1_000),
    ],
)
def test_the_last_step(convention: Convention, communication: int, both: int) -> None:
    main = measured(convention, STEP_KERNELS).devices[0].main
    assert (main.both_ns + main.communication_only_ns, main.both_ns) == (communication, both)


def test_one_step_alone_is_not_dropped() -> None:
    main = measured(Convention("hta"), STEP_KERNELS, one_step=True).devices[0].main
    assert main.both_ns + main.communication_only_ns == 9_000


def test_rounding_is_inwards() -> None:
    kernels = [K(1_100, 3_900, "all_reduce", launch=1, name=NCCL), K(1_500, 1_700, launch=1)]
    exact = measured(Convention("hta", "keep", "ns"), kernels).devices[0].main
    rounded = measured(Convention("hta", "keep", "us"), kernels).devices[0].main
    assert (exact.both_ns + exact.communication_only_ns, exact.both_ns) == (2_800, 200)
    # 1.1 to 3.9 us become 2 to 3; what is shorter than a microsecond covers nothing
    assert (rounded.both_ns + rounded.communication_only_ns, rounded.both_ns) == (1_000, 0)


def test_lanes_go_by_name() -> None:
    kernels = [K(0, 1_000, "all_reduce", launch=1, name=MULTIMEM), K(500, 2_000, launch=1)]
    assert measured(Convention("exact"), kernels).devices[0].main.both_ns == 500
    assert measured(Convention("hta", "keep", "ns"), kernels).devices[0].main.overlap_pct is None


def test_the_document_names_what_was_used() -> None:
    said = measured(Convention("hta", None, "ns"), STEP_KERNELS).settings
    assert (said.convention, said.last_step, said.rounding) == ("hta", "drop", "ns")
