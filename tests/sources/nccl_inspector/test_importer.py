"""Inspector files of several ranks: pairing by number, what has no record, groups, times, messages."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import pytest

from commcanary.errors import InputRefusal, UsageError
from commcanary.sources.nccl_inspector.importer import import_nccl_inspector
from commcanary.sources.nccl_inspector.settings import NcclInspectorSettings

from ..imported import account, rows
from .files import SIZE, WORLD, collective, durations, head, job, marker, message, times, written

if TYPE_CHECKING:
    from pathlib import Path


SHARED = NcclInspectorSettings(assume_shared_clock=True)


def test_bytes_are_those_of_the_larger_side(tmp_path: Path) -> None:
    """NCCL's count is a shard in all-gather and reduce-scatter: of 4 ranks, nccl-tests' size is four times that."""
    names = ["AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Reduce"]
    records = [collective(0, name, 1000 + at) for at, name in enumerate(names)]
    trace = import_nccl_inspector(job(tmp_path, *[records] * 4)).trace
    assert rows(trace) == [
        ("all_reduce", 1000),
        ("all_gather", 4004),
        ("reduce_scatter", 4008),
        ("broadcast", 1003),
        ("reduce", 1004),
    ]
    assert {group.ranks for group in trace.events.groups} == {4}
    assert {s.dtype for s in trace.events.signatures} == {None}


def test_zero_durations_are_unknown_and_named(tmp_path: Path) -> None:
    done = import_nccl_inspector(job(tmp_path, [collective(0, us=0), collective(1)], [collective(0), collective(1)]))
    assert durations(done.trace) == [{"0": None, "1": 100}, {"0": 100, "1": 100}]
    assert done.counts == ("rank 0: 1 of 2 records state 0 us: duration unknown",)


def test_durations_by_the_host_are_named(tmp_path: Path) -> None:
    records = [collective(0), collective(1, coll_timing_source="kernel_cpu")]
    done = import_nccl_inspector(job(tmp_path, records, [collective(0), collective(1)]))
    assert done.counts == ("durations not by the GPU's clock: 1 by kernel_cpu of 4 records",)


def test_without_times_only_the_order_is_known(tmp_path: Path) -> None:
    records = [collective(0), collective(1)]
    trace = import_nccl_inspector(job(tmp_path, records, records)).trace
    assert {"start_us", "gap_us", "rank_arrival_us", "observed_exposed_us"} <= trace.header.unknown.keys()
    assert (trace.start_ns == -1).all()
    assert not trace.events.gaps_known
    assert not trace.events.offsets_ns.known.any()
    for settings in (
        SHARED,
        NcclInspectorSettings(estimate_clock=True),
        NcclInspectorSettings(clock_offsets_us={0: 1}),
    ):
        with pytest.raises(InputRefusal, match=r"no times to compare; record with NCCL_INSPECTOR_DUMP_VERBOSE=1"):
            import_nccl_inspector(job(tmp_path, records, records), settings)


def verbose(*calls: tuple[int, int, int], shift: int = 0) -> list[dict[str, Any]]:
    """All-reduces of (number, start, end), seen on a clock that is ``shift`` us fast."""
    return [collective(n, **times(start + shift, end + shift, channels=2)) for n, start, end in calls]


def test_verbose_records_give_starts_and_gaps(tmp_path: Path) -> None:
    one, other = verbose((0, 0, 100), (1, 250, 400)), verbose((0, 30, 100), (1, 240, 400))
    trace = import_nccl_inspector(job(tmp_path, one, other)).trace
    assert trace.start_ns.tolist() == [0, 250_000]  # as on rank 0
    assert not trace.events.offsets_ns.known.any()
    assert "start_us" not in trace.header.unknown
    shared = import_nccl_inspector(job(tmp_path, one, other), SHARED).trace
    assert [shared.events.offsets_ns.row(i) for i in (0, 1)] == [[0, 30_000], [10_000, 0]]
    assert shared.events.gap_ns.tolist() == [0, 240_000]


def test_clocks_are_declared_or_fitted(tmp_path: Path) -> None:
    one, other = verbose((0, 0, 100), (1, 250, 400)), verbose((0, 30, 100), (1, 240, 400), shift=5_000)
    files = job(tmp_path, one, other)
    moved = import_nccl_inspector(files, NcclInspectorSettings(clock_offsets_us={0: 0, 1: -5_000})).trace
    fitted = import_nccl_inspector(files, NcclInspectorSettings(estimate_clock=True)).trace
    for trace in (moved, fitted):
        assert [trace.events.offsets_ns.row(i) for i in (0, 1)] == [[0, 30_000], [10_000, 0]]
    assert fitted.header.system["clock"]["error_bound_us"] == 0
    with pytest.raises(InputRefusal, match=r"a rank leaves .* before rank"):
        import_nccl_inspector(files, SHARED)
    with pytest.raises(UsageError, match="rank 1 has no offset"):
        import_nccl_inspector(files, NcclInspectorSettings(clock_offsets_us={0: 0}))


def test_launches_order_a_rank_s_calls_of_several_communicators(tmp_path: Path) -> None:
    """The file lists a dump by communicator; launches alternate."""
    pair = "0x11"
    lines = [
        {**head(0, 2), **collective(0, size=1, **times(0, 9))},
        {**head(0, 2), **collective(1, size=2, **times(20, 29))},
        {**head(0, 2, pair), **collective(0, size=3, **times(10, 19))},
    ]
    files = []
    for rank in (0, 1):
        for line in lines:
            line["header"], line["metadata"] = ({**line["header"], "rank": rank}, {**line["metadata"], "pid": rank})
        files.append(written(tmp_path / f"{rank}.log", lines))
    trace = import_nccl_inspector(files).trace
    assert [size for _, size in rows(trace)] == [1, 3, 2]


def test_one_header_for_the_records_that_follow(tmp_path: Path) -> None:
    """Format v4.3: a marker states the communicator once; records of proxies are no calls of their own."""
    files, pair = [], "0x33"
    for rank in (0, 1):
        lines = [
            {**head(rank), **marker(2, 1)},
            collective(0, coll_algo="RING", coll_proto="LL"),
            collective(1),
            message(1, "Recv" if rank else "Send", 1 - rank),
            {"proxy_trace": {"record_type": "proxy_op", "record_sn": 4, "parent_sn": 1}},
            {**head(rank, 2, pair), **marker(1)},
            collective(0, size=9),
            {**head(rank), **marker(0)},
        ]
        files.append(written(tmp_path / f"{rank}.log", lines))
    done = import_nccl_inspector(files)
    assert [(op, size) for op, size in rows(done.trace)].count(("all_reduce", SIZE)) == 2
    assert {group.name for group in done.trace.events.groups} == {WORLD, pair}
    assert done.counts == ()
    assert account(done.trace)[0, "Inspector proxy record"] == (1, 0, 1, 0, 0)


def test_gzip_and_an_archive_s_order_change_nothing(tmp_path: Path) -> None:
    files = job(tmp_path, [collective(0)], [collective(0)])
    packed = []
    for path in files:
        packed.append(path.with_suffix(".gz"))
        packed[-1].write_bytes(gzip.compress(path.read_bytes()))
    first = import_nccl_inspector(files).trace
    assert import_nccl_inspector(packed).trace.content_id == first.content_id
    assert import_nccl_inspector(files[::-1]).trace.content_id == first.content_id


def test_slices_end_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = job(tmp_path, *[[collective(n, us=n + 1) for n in range(40)]] * 2)
    files[0].write_bytes(files[0].read_bytes().replace(b"\n", b"\n\n", 3).rstrip())
    whole = import_nccl_inspector(files).trace.content_id
    for size in (100, 333, 1000):
        monkeypatch.setattr("commcanary.sources.nccl_inspector.records.SLICE_BYTES", size)
        assert import_nccl_inspector(files).trace.content_id == whole
