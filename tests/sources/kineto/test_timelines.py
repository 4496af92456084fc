"""Timelines read from profiles: lanes, links to calls, phases, sites and steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from commcanary.errors import InputRefusal
from commcanary.sources.kineto.timelines import read_timelines
from commcanary.timeline.covered import Covered
from commcanary.timeline.kernels import UNKNOWN, Lane

from .profiles import info, kernel, profile, record, span, written

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.timeline.rank_timeline import RankTimeline

COMPUTE = "sgemm_128"
NCCL = "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"


def launch(correlation: int, ts: float, tid: int = 1) -> dict[str, Any]:
    return span("cudaLaunchKernel", "cuda_runtime", ts, 1.0, tid, correlation=correlation)


def read(path: Path, events: list[dict[str, Any]], **head: Any) -> RankTimeline:
    (one,) = read_timelines([written(path / "p.json", profile(events, **head))]).reads
    return one.timeline


def step(tmp_path: Path) -> RankTimeline:
    return read(
        tmp_path,
        [
            span("ProfilerStep#3", "user_annotation", 0, 100),
            span("## backward ##", "user_annotation", 10, 80),
            span("autograd::hook", "cpu_op", 12, 20),
            span("c10d::allreduce_", "cpu_op", 14, 16),
            {**record(ts=15, dur=10), "args": {**record()["args"], "External id": 77}},
            launch(5, 16),
            launch(6, 40),
            kernel(NCCL, 50, 20, 9, **{"External id": 77, "correlation": 5}),
            kernel(COMPUTE, 60, 20, 7, correlation=6),
            {**kernel("Memcpy HtoD", 75, 10, 7), "cat": "gpu_memcpy"},
            {**kernel("cudaStreamSynchronize", 0, 500, 7), "cat": "cuda_sync"},
        ],
    )


def test_kernels_carry_what_launched_them(tmp_path: Path) -> None:
    timeline = step(tmp_path)
    (device,) = timeline.devices
    k = device.kernels
    assert k.lane.tolist() == [Lane.COMMUNICATION, Lane.COMPUTE, Lane.MEMORY]  # and no synchronisation
    assert (k.start.tolist(), k.end.tolist()) == ([50_000, 60_000, 75_000], [70_000, 80_000, 85_000])
    assert timeline.kinds[k.kind[0]] == "all_reduce"
    assert timeline.groups[k.group[0]] == "0"
    assert timeline.sites[k.site[0]] == "## backward ## > autograd::hook > c10d::allreduce_"
    assert [timeline.phases[p] if p != UNKNOWN else None for p in k.phase.tolist()] == ["backward", "backward", None]
    assert timeline.steps.name == ("ProfilerStep#3",)
    assert k.step.tolist() == [0, 0, UNKNOWN]
    assert k.call.tolist() == [0, UNKNOWN, UNKNOWN]
    assert k.launch.tolist() == [16_000, 40_000, UNKNOWN]
    assert timeline.calls is not None
    assert timeline.calls.signatures[0].bytes == 4096
    assert [timeline.rules[r] for r in k.rule.tolist()] == ["nccl", "no rule: compute", "copy or memset"]


def test_a_profile_without_rank_has_kernels_but_no_calls(tmp_path: Path) -> None:
    timeline = read(tmp_path, [kernel(NCCL, 0, 5), kernel(COMPUTE, 1, 5)], distributedInfo={"backend": "nccl"})
    assert (timeline.rank, timeline.calls) == (None, None)
    assert timeline.no_calls == "distributedInfo.rank is missing"
    assert timeline.kinds == ("all_reduce",)


def test_a_call_that_cannot_be_read_is_counted_and_its_kernel_kept(tmp_path: Path) -> None:
    bad = record(ts=1, dtype="Float7")
    bad["args"]["External id"] = 3
    timeline = read(tmp_path, [bad, kernel(NCCL, 5, 5, **{"External id": 3})])
    assert timeline.refused_calls == 1
    assert timeline.kinds == ("all_reduce",)
    assert timeline.devices[0].kernels.call.tolist() == [UNKNOWN]


def test_a_cpu_job_has_its_lanes_on_the_host(tmp_path: Path) -> None:
    timeline = read(
        tmp_path,
        [
            span("aten::mm", "cpu_op", 0, 30),
            span("hook", "cpu_op", 40, 30),
            span("c10d::allreduce_", "cpu_op", 50, 10, **{"Input Dims": [[[8]]], "Input type": ["TensorList"]}),
            span("gloo:all_reduce", "user_annotation", 55, 40, 2, **{"Input Dims": [[8]], "Input type": ["float"]}),
        ],
        distributedInfo=info(backend="gloo"),
    )
    assert timeline.lanes == "host"
    (device,) = timeline.devices
    compute, communication = device.kernels.on(Lane.COMPUTE), device.kernels.on(Lane.COMMUNICATION)
    assert (compute.start // 1000).tolist() == [0, 40, 60]  # not while the hook issues the call
    assert (compute.end // 1000).tolist() == [30, 50, 70]
    assert communication.call.tolist() == [0]
    assert Covered(communication.start, communication.end).both(Covered(compute.start, compute.end)) == 10_000


def test_devices_of_one_profile_stand_apart(tmp_path: Path) -> None:
    timeline = read(tmp_path, [kernel(COMPUTE, 5, 5, device=d) for d in (10, 2, 2)])
    assert [(d.device, len(d.kernels)) for d in timeline.devices] == [("2", 2), ("10", 1)]


def test_nothing_to_measure_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputRefusal, match=r"p\.json: traceEvents: shows nothing to measure"):
        read(tmp_path, [span("nccl:all_reduce", "user_annotation", 0, 5), span("aten::mm", "cpu_op", 0, 5)])


GOLDEN = {
    "nccl_data.json.gz": [15.61],
    "sampled_rank-0.json.gz": [14.95],
    "sampled_rank-1.json.gz": [19.93],
    "dlrm_kineto.tar.gz": [4.5, 2.47, 7.88, 3.31, 0.56, 0.64, 7.56, 9.51],
}


@pytest.mark.parametrize("name", GOLDEN)
def test_real_profiles_have_the_golden_overlap(shared_traces: Path, name: str) -> None:
    ratios = []
    for one in read_timelines([shared_traces / "kineto" / name]).reads:
        (device,) = one.timeline.devices
        compute, communication = (device.kernels.on(lane) for lane in (Lane.COMPUTE, Lane.COMMUNICATION))
        whole = Covered(communication.start, communication.end)
        ratios.append(100 * whole.both(Covered(compute.start, compute.end)) / whole.total)
    assert np.abs(np.asarray(ratios) - GOLDEN[name]).max() <= 0.01
