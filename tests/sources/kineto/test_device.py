"""Kernels: which call they belong to, what overlaps them, what came before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commcanary.sources.kineto.importer import import_kineto
from commcanary.sources.kineto.settings import KinetoSettings
from commcanary.timeline.communication_kernels import KernelRule

from .profiles import info, kernel, profile, record, span, written

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.artifacts.trace import Trace

NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


def imported(
    tmp_path: Path, events: list[dict[str, Any]], settings: KinetoSettings | None = None, **head: Any
) -> Trace:
    return import_kineto([written(tmp_path / "p.json", profile(events, **head))], settings).trace


def linked(identity: int, ts: float, dur: float, at: float, stream: int = 20) -> list[dict[str, Any]]:
    """A record and its kernel."""
    ids = {"External id": identity}
    return [record(ts=at, dur=5, **ids), kernel(NCCL, ts, dur, stream, **ids, correlation=1000 + identity)]


def test_overlap_is_the_union_of_compute_inside_the_kernel(tmp_path: Path) -> None:
    events = [
        *linked(1, ts=1000, dur=100, at=10),
        kernel("gemm", 900, 150, 7),  # 50 us inside
        kernel("relu", 1030, 40, 8),  # 20 more
        kernel("copy_kernel", 1090, 40, 8),  # 10 more
        kernel("elsewhere", 1000, 100, 7, device=1),
        span("Memcpy HtoD", "gpu_memcpy", 1000, 100, 9, stream=9, device=0),
        span("Stream Sync", "cuda_sync", 1000, 100, 9, stream=9, device=0),
    ]
    trace = imported(tmp_path, events)
    assert trace.events.compute_overlap_ns.tolist() == [80_000]
    assert trace.events.observed_exposed_ns.tolist() == [20_000]


def test_compute_before_is_device_compute_since_the_previous_communication(tmp_path: Path) -> None:
    events = [
        kernel("gemm", 500, 100, 7),
        *linked(1, ts=1000, dur=100, at=10),
        kernel("gemm", 1050, 100, 7),  # 50 us of it after the first kernel
        kernel("gemm", 1300, 30, 7),
        *linked(2, ts=1400, dur=10, at=20),
    ]
    assert imported(tmp_path, events).events.compute_before_ns.tolist() == [100_000, 80_000]


def test_arrival_is_the_kernels_start_only_if_every_call_has_one(tmp_path: Path) -> None:
    events = [*linked(1, ts=1000, dur=100, at=10), *linked(2, ts=1400, dur=10, at=20)]
    assert imported(tmp_path, events).events.gap_ns.tolist() == [0, 400_000]
    trace = imported(tmp_path, [*events, record(ts=30, dur=5)])
    assert trace.events.gap_ns.tolist() == [0, 10_000, 10_000]
    assert trace.events.compute_overlap_ns.tolist() == [0, 0, -1]
    assert (trace.events.observed_exposed_ns == -1).all()
    assert {"compute_overlap_us", "observed_exposed_us"} <= trace.header.unknown.keys()


def test_old_kernels_are_linked_by_their_launch(tmp_path: Path) -> None:
    """Before 2023 a kernel's External id was its correlation, which may equal an unrelated operator's id."""
    events = [
        record(ts=100, dur=50, tid=3, **{"External id": 7}),
        record("broadcast", ts=300, dur=50, tid=3, **{"External id": 900}),
        span("cudaLaunchKernel", "cuda_runtime", 120, 5, 3, correlation=900),
        kernel(NCCL, 1000, 10, 20, **{"External id": 900}, correlation=900),
        span("cudaLaunchKernel", "Runtime", 320, 5, 3, correlation=901),
        kernel(
            "ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclWorkElem)",
            1100,
            20,
            20,
            **{"External id": 901},
            correlation=901,
        ),
    ]
    trace = imported(tmp_path, events)
    rows = [trace.events.signatures[i] for i in trace.events.signature]
    assert [(r.op, r.reduction_op) for r in rows] == [("all_reduce", "sum"), ("broadcast", None)]
    assert trace.events.observed_exposed_ns.tolist() == [10_000, 20_000]


def test_kernels_without_a_record_are_accounted_for(tmp_path: Path) -> None:
    events = [
        *linked(1, ts=1000, dur=100, at=10),
        kernel("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(...)", 2000, 250, 7),
        kernel("multimem_all_reduce_kernel<c10::BFloat16, 8>", 3000, 50, 7),
    ]
    coverage = imported(tmp_path, events).header.coverage
    assert [(c.rule, c.seen, c.taken, c.unknown, c.time_share) for c in coverage] == [
        ("record_param_comms", 1, 1, 0, 0.25),
        ("communication kernel: custom_all_reduce", 1, 0, 1, 0.625),
        ("communication kernel: symmetric_memory", 1, 0, 1, 0.125),
    ]


def test_own_rules_extend_the_table(tmp_path: Path) -> None:
    events = [*linked(1, ts=1000, dur=100, at=10), kernel("spyre_sum_all", 1000, 50, 7)]
    assert imported(tmp_path, events).events.compute_overlap_ns.tolist() == [50_000]
    settings = KinetoSettings(kernel_rules=(KernelRule("spyre", "^spyre_"),))
    trace = imported(tmp_path, events, settings)
    assert trace.events.compute_overlap_ns.tolist() == [0]
    assert [c.rule for c in trace.header.coverage if c.unknown] == ["communication kernel: spyre"]


def test_kernels_alone_are_calls_where_they_carry_the_fields(tmp_path: Path) -> None:
    """A profile of device activity only; its kernels carry what torch copied from the records."""
    fields = record(elements=256, Seq=4)["args"]
    events = [
        kernel("gemm", 950, 70, 7),
        kernel(NCCL, 1000, 100, 20, **fields, **{"External id": 8, "correlation": 60}),
        kernel("mystery_all_reduce", 1200, 30, 20, **fields, **{"External id": 9, "correlation": 61}),
        kernel("mystery_all_reduce", 1240, 10, 20, **fields, **{"External id": 9, "correlation": 62}),
    ]
    trace = imported(tmp_path, events)
    assert [trace.events.signatures[i].bytes for i in trace.events.signature] == [1024, 1024]
    assert trace.start_ns.tolist() == [0, 200_000]
    assert trace.events.compute_overlap_ns.tolist() == [20_000, 0]
    assert trace.events.observed_exposed_ns.tolist() == [80_000, 40_000]
    assert [(c.rule, c.taken) for c in trace.header.coverage] == [("kernel with a record's fields", 2)]


def test_bare_kernels_of_full_records(tmp_path: Path) -> None:
    """Nightlies of 2026 left the fields off the kernels (pytorch#184637)."""
    full = imported(tmp_path, linked(1, ts=1000, dur=100, at=10))
    with_fields = linked(1, ts=1000, dur=100, at=10)
    with_fields[1]["args"].update(record()["args"])
    assert imported(tmp_path, with_fields).content_id == full.content_id


def unnamed(ts: float, dims: list[Any], types: list[str], identity: int) -> dict[str, Any]:
    return span(
        "record_param_comms", "cpu_op", ts, 50, 1, **{"External id": identity, "Input Dims": dims, "Input type": types}
    )


def launched(name: str, at: float, ts: float, correlation: int, stream: int = 20) -> list[dict[str, Any]]:
    return [
        span("cudaLaunchKernel", "cuda_runtime", at, 5, 1, correlation=correlation),
        kernel(name, ts, 10, stream, **{"External id": correlation}, correlation=correlation),
    ]


def test_unnamed_records_are_named_by_their_kernel(tmp_path: Path) -> None:
    events = [
        unnamed(100, [[100], [], []], ["float", "Scalar", ""], 1),
        *launched(NCCL, 110, 1000, 501),
        unnamed(200, [[100], [], []], ["c10::BFloat16", "Scalar", ""], 2),
        *launched("ncclKernel_AllGather_RING_LL_Sum_int8_t(x)", 210, 1100, 502),
        unnamed(300, [[], [], []], ["Scalar", "Scalar", ""], 3),
    ]
    trace = imported(tmp_path, events, distributedInfo={"backend": "nccl", "rank": 0, "world_size": 4})
    rows = [trace.events.signatures[i] for i in trace.events.signature]
    assert [(r.op, r.bytes, r.in_elements, r.out_elements) for r in rows] == [
        ("all_reduce", 400, 100, 100),
        ("all_gather", 800, 100, 400),
    ]
    assert [g.members for g in trace.events.groups] == [(0, 1, 2, 3)]
    assert {c.rule for c in trace.header.coverage} == {"record_param_comms, derived"}


def test_an_unnamed_record_with_a_send_receive_kernel_stays_unnamed(tmp_path: Path) -> None:
    from commcanary.errors import InputRefusal

    events = [
        unnamed(100, [[100], [], []], ["float", "Scalar", ""], 1),
        *launched("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)", 110, 1000, 501),
    ]
    with pytest.raises(InputRefusal, match="neither an operator, an annotation nor its kernel's name says"):
        imported(tmp_path, events, distributedInfo=info(groups=[]))
