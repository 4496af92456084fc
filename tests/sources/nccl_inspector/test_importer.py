"""Inspector files of several ranks: pairing by number, what has no record, groups, times, messages."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from commcanary.errors import InputRefusal, UsageError
from commcanary.sources.nccl_inspector.importer import import_nccl_inspector
from commcanary.sources.nccl_inspector.settings import NcclInspectorSettings

from .files import SIZE, WORLD, collective, head, job, marker, message, times, written

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.artifacts.trace import Trace

SHARED = NcclInspectorSettings(assume_shared_clock=True)
SKIP = NcclInspectorSettings(on_error="skip")


def rows(trace: Trace) -> list[tuple[str, int]]:
    return [(trace.events.signatures[i].op, trace.events.signatures[i].bytes) for i in trace.events.signature]


def durations(trace: Trace) -> list[dict[str, int | None]]:
    return [json.loads(text or "{}")["execution_us"] for text in trace.metadata or ()]


def account(trace: Trace) -> dict[tuple[int | None, str], tuple[int, int, int, int, int]]:
    """seen, taken, skipped, refused and unknown by rank and rule."""
    found: dict[tuple[int | None, str], tuple[int, int, int, int, int]] = {}
    for row in trace.header.coverage:
        before = found.get((row.rank, row.rule), (0, 0, 0, 0, 0))
        mine = (row.seen, row.taken, row.skipped, row.refused, row.unknown)
        found[row.rank, row.rule] = tuple(a + b for a, b in zip(before, mine, strict=True))  # type: ignore[assignment]
    return found


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


def test_ranks_that_recorded_different_subsets_are_paired_by_number(tmp_path: Path) -> None:
    """Rank 3 lost 30 of 100 records: the other 70 are paired with their own numbers, and the 30 are named."""
    whole = [collective(n, size=8192 + n, us=1000 + n) for n in range(100)]
    lossy = [collective(n, size=8192 + n, us=2000 + n) for n in range(100) if not 20 <= n < 50]
    done = import_nccl_inspector(job(tmp_path, whole, whole, whole, lossy))
    kept = [n for n in range(100) if not 20 <= n < 50]
    assert rows(done.trace) == [("all_reduce", 8192 + n) for n in kept]
    expected = [{"0": 1000 + n, "1": 1000 + n, "2": 1000 + n, "3": 2000 + n} for n in kept]
    assert durations(done.trace) == expected
    why = "too small, overwritten in the ring, or not timed on the GPU"
    assert list(done.counts) == [
        f"rank 3: no record of 30 of 100 x AllReduce: communicator {WORLD}: coll_sn 20 to 49: {why}",
        f"left out: 30 x AllReduce on communicator {WORLD} that not every rank recorded: coll_sn 20 to 49",
    ]
    assert account(done.trace) == {
        **{(rank, "Inspector record"): (100, 70, 30, 0, 0) for rank in (0, 1, 2)},
        (3, "Inspector record"): (70, 70, 0, 0, 0),
        (3, "AllReduce without a record"): (30, 0, 0, 0, 30),
    }


def test_numbers_are_of_one_operation_each(tmp_path: Path) -> None:
    """NCCL counts every operation of a communicator by itself, so that equal numbers are no equal calls."""
    one = [collective(0, "AllReduce", 10), collective(0, "AllGather", 20), collective(1, "AllReduce", 30)]
    other = [one[1], one[0], one[2]]  # kernels of one launch may end in any order
    done = import_nccl_inspector(job(tmp_path, one, other))
    assert rows(done.trace) == [("all_reduce", 10), ("all_gather", 40), ("all_reduce", 30)]
    assert done.counts == ()


def test_numbers_missing_on_every_rank_are_counted_from_0(tmp_path: Path) -> None:
    records = [collective(2), collective(5)]
    done = import_nccl_inspector(job(tmp_path, records, records))
    assert done.counts[0].startswith(
        f"ranks 0, 1: no record of 4 of 6 x AllReduce: communicator {WORLD}: coll_sn 0 to 1, "
    )
    assert "coll_sn 0 to 1, 3 to 4:" in done.counts[0]
    assert account(done.trace)[1, "AllReduce without a record"] == (4, 0, 0, 0, 4)


def test_a_size_that_differs_is_refused_with_both_lines(tmp_path: Path) -> None:
    one, other = [collective(0), collective(1, size=8192)], [collective(0), collective(1, size=9000)]
    told = (
        rf"'{WORLD}' call 1: rank 0 calls all_reduce of 8192 bytes Seq 1 \(line\[2\]\) but rank 1 .* 9000 bytes Seq 1"
    )
    with pytest.raises(InputRefusal, match=told):
        import_nccl_inspector(job(tmp_path, one, other))


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


def test_a_communicator_of_some_ranks(tmp_path: Path) -> None:
    """Ranks 1 and 3 of the job are ranks 1 and 0 of a communicator of two."""
    odd, files = "0x22", []
    for rank in range(4):
        lines = [{**head(rank, 4), **collective(0)}]
        if rank % 2:
            lines.append({**head({1: 1, 3: 0}[rank], 2, odd, pid=4000 + rank), **collective(0, "AllGather")})
        files.append(written(tmp_path / f"{rank}.log", lines))
    trace = import_nccl_inspector([files[i] for i in (2, 0, 3, 1)]).trace
    assert {group.name: group.members for group in trace.events.groups} == {WORLD: (0, 1, 2, 3), odd: (3, 1)}
    assert trace.header.system["profiled_ranks"] == [0, 1, 2, 3]
    assert durations(trace)[1] == {"1": 100, "3": 100}
    with pytest.raises(InputRefusal, match=r"1 of 4 ranks of process group .* have no profile: 3"):
        import_nccl_inspector(files[:3], NcclInspectorSettings(process_group=WORLD))
    with pytest.raises(InputRefusal, match=r"communicator 0x22 of 2 ranks, of which 1 is in no file given"):
        import_nccl_inspector(files[:2])


def test_no_communicator_seats_every_process(tmp_path: Path) -> None:
    files = [written(tmp_path / f"{n}.log", [{**head(n % 2, 2, f"0x{n // 2}", n), **collective(0)}]) for n in range(4)]
    trace = import_nccl_inspector(files).trace
    assert [group.members for group in trace.events.groups] == [(0, 1), (2, 3)]
    assert "numbered" not in trace.header.notes["ranks"]
    assert trace.header.notes["ranks"].startswith("no communicator seats every process")


def test_one_file_alone(tmp_path: Path) -> None:
    """Its rank and the size of its communicator are known; arrivals of the others are not."""
    path = written(tmp_path / "a.log", [{**head(2, 8), **collective(0, **times(0, 9))}])
    trace = import_nccl_inspector([path]).trace
    assert trace.events.groups[0].members == tuple(range(8))
    assert trace.header.system["profiled_ranks"] == [2]
    assert trace.header.unknown["rank_arrival_us"] == "one rank's file was given"
    assert durations(trace) == [{"2": 100}]


def test_one_file_of_several_communicators(tmp_path: Path) -> None:
    """Who the members of the smaller one are stands in the others' files alone."""
    lines = [{**head(2, 8, pid=1), **collective(0)}, {**head(0, 2, "0x5", pid=1, comm_name="dp"), **collective(0)}]
    path = written(tmp_path / "a.log", lines)
    with pytest.raises(InputRefusal, match=r"line 2\.header\.id: is on communicator 0x5 of 2 ranks, of which 1"):
        import_nccl_inspector([path])
    for wanted in ("0x5", "dp"):
        done = import_nccl_inspector([path], NcclInspectorSettings(process_group=wanted))
        assert [group.members for group in done.trace.events.groups] == [(0, 1)]
        assert account(done.trace) == {(0, "Inspector record"): (2, 1, 1, 0, 0)}
    assert import_nccl_inspector([path], SKIP).summary.endswith("(skipped 0 control, 0 empty, 1 refused)")


def test_one_process_that_drives_all_gpus(tmp_path: Path) -> None:
    lines = [{**head(rank, 4, pid=9), **collective(n, us=rank + 1)} for rank in (1, 0, 3, 2) for n in range(3)]
    lines.append({**head(0, 1, "0x6", pid=9), **collective(0)})
    path = written(tmp_path / "a.log", lines)
    with pytest.raises(InputRefusal, match=r"4 ranks of communicator .* no record says which .* one process a GPU"):
        import_nccl_inspector([path])
    done = import_nccl_inspector([path], NcclInspectorSettings(process_group=WORLD))
    assert durations(done.trace) == [{"0": 1, "1": 2, "2": 3, "3": 4}] * 3
    assert sum(row.seen for row in done.trace.header.coverage) == len(lines)


def test_messages_are_paired_in_order(tmp_path: Path) -> None:
    """Each process numbers its own; the file lists them as they ended."""
    one = [message(2, "Send", 1, 20), message(1, "Send", 1, 10), message(3, "Recv", 1, 30)]
    other = [message(1, "Recv", 0, 10), message(3, "Send", 0, 30), message(2, "Recv", 0, 20)]
    done = import_nccl_inspector(job(tmp_path, one, other))
    found = [done.trace.events.signatures[i] for i in done.trace.events.signature]
    assert sorted((s.bytes, s.sender_rank, s.receiver_rank) for s in found) == [(10, 0, 1), (20, 0, 1), (30, 1, 0)]
    assert done.counts == ()


def test_messages_without_some_records_are_left_out(tmp_path: Path) -> None:
    one = [message(1, "Send", 1), message(3, "Send", 1), collective(0)]
    other = [message(1, "Recv", 0), message(2, "Recv", 0), message(3, "Recv", 0), collective(0)]
    done = import_nccl_inspector(job(tmp_path, one, other))
    assert rows(done.trace) == [("all_reduce", SIZE)]
    assert done.counts[0].startswith("rank 0: no record of 1 x Send and Recv: ")
    assert account(done.trace)[0, "Inspector record"] == (3, 1, 2, 0, 0)
    assert account(done.trace)[0, "Send and Recv without a record"] == (1, 0, 0, 0, 1)


def test_messages_of_one_file_keep_their_end(tmp_path: Path) -> None:
    records = [message(1, "Send", 1, 10), message(2, "Recv", 3, 20), message(3, "Send", 2, 30)]
    path = written(tmp_path / "a.log", [{**head(2, 4), **record} for record in records])
    done = import_nccl_inspector([path])
    assert rows(done.trace) == [("send", 10), ("recv", 20)]
    assert done.summary == "imported 2 collective events (skipped 0 control, 1 empty)"


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


def test_what_dumps_state_is_held_against_the_file(tmp_path: Path) -> None:
    lines = [{**head(0, 1), **marker(3, dropped=7)}, {**head(0, 1), **collective(7)}, {**head(0, 1), **collective(8)}]
    done = import_nccl_inspector([written(tmp_path / "a.log", lines)])
    assert done.counts[1] == (
        f"rank 0: its dumps state 3 collectives of communicator {WORLD} and 7 overwritten before; the file has 2"
    )


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
