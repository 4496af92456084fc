"""Dumps of several ranks: rings that begin and end apart, messages, missing ranks, groups that nobody names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from commcanary.errors import InputRefusal, UsageError
from commcanary.sources.flight_recorder.importer import import_flight_recorder
from commcanary.sources.flight_recorder.settings import FlightRecorderSettings

from .dumps import dump, entry, written

if TYPE_CHECKING:
    from commcanary.artifacts.trace import Trace
    from commcanary.sources.calls.imported import Imported


def imported(
    folder: Path, *entries: list[dict[str, Any]], settings: FlightRecorderSettings | None = None, **more: Any
) -> Imported:
    paths = [written(folder / f"trace_rank_{rank}.json", dump(of, **more)) for rank, of in enumerate(entries)]
    return import_flight_recorder(paths, settings)


def rows(trace: Trace) -> list[tuple[str, int]]:
    return [(trace.events.signatures[i].op, trace.events.signatures[i].bytes) for i in trace.events.signature]


def test_json_and_pickle_hold_the_same(tmp_path: Path) -> None:
    calls = [
        entry(0),
        entry(1, "nccl:_reduce_scatter_base", 8, output_sizes=[[4]]),
        entry(2, "nccl:barrier", input_sizes=[]),
    ]
    as_json = import_flight_recorder([written(tmp_path / f"a{rank}.json", dump(calls)) for rank in (0, 1)])
    as_pickle = import_flight_recorder([written(tmp_path / f"b{rank}.pkl", dump(calls), True) for rank in (0, 1)])
    assert as_json.trace.content_id == as_pickle.trace.content_id
    assert rows(as_json.trace) == [("all_reduce", 400), ("reduce_scatter", 32)]
    assert as_json.summary == "imported 2 collective events (skipped 2 control, 0 empty)"
    assert as_json.trace.events.gap_ns.tolist() == [0, 1_000_000]


def test_rings_that_begin_apart(tmp_path: Path) -> None:
    """Rank 0 holds calls 5 to 12, rank 1 holds 9 to 14: 9 to 12 are common."""
    one = [entry(n - 1, elements=n) for n in range(5, 13)]
    other = [entry(n - 1, elements=n) for n in range(9, 15)]
    done = imported(tmp_path, one, other)
    assert [size // 4 for _, size in rows(done.trace)] == [9, 10, 11, 12]
    assert done.counts[0] == (
        "process group '0': calls 9 to 12 are in every dump (rank 0 holds 5 to 12, rank 1 holds 9 to 14)"
    )
    account = {
        (c.rank, c.rule): (c.seen, c.taken, c.skipped, c.unknown) for c in done.trace.header.coverage if c.unknown
    }
    assert account == {
        (0, "call before the ring's first"): (4, 0, 0, 4),
        (1, "call before the ring's first"): (8, 0, 0, 8),
    }
    outside = [(c.rank, c.skipped) for c in done.trace.header.coverage if c.reason.startswith("outside")]
    assert outside == [(0, 4), (1, 2)]


def test_a_coalesced_call_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    """Call 5 is three collectives under one number; rank 1's ring has lost the first of them."""
    batch = [entry(4, elements=n, seq=5, record=3 + n) for n in (1, 2, 3)]
    later = [entry(7, elements=9, seq=6, record=7)]
    done = imported(tmp_path, [*batch, *later], [*batch[1:], *later])
    assert [size // 4 for _, size in rows(done.trace)] == [9]


def test_dumps_that_share_no_call(tmp_path: Path) -> None:
    with pytest.raises(InputRefusal, match=r"nothing to import: .*4 outside"):
        imported(tmp_path, [entry(0), entry(1)], [entry(5), entry(6)])


def test_divergence_is_refused_at_the_first_number(tmp_path: Path) -> None:
    with pytest.raises(
        InputRefusal, match=r"call 1: rank 0 calls all_reduce of 400 bytes Seq 2.*rank 1 calls broadcast of 400"
    ):
        imported(tmp_path, [entry(0), entry(1)], [entry(0), entry(1, "nccl:broadcast")])


def test_missing_ranks_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputRefusal, match=r"2 of 4 ranks of process group '0' have no profile: 2, 3"):
        imported(tmp_path, [entry(0)], [entry(0)], world=4)


def test_one_dump_alone(tmp_path: Path) -> None:
    trace = imported(tmp_path, [entry(0)]).trace
    assert not trace.events.offsets_ns.known.any()
    assert trace.header.unknown["rank_arrival_us"] == "one rank's dump was given"


def test_arrivals_need_a_declared_clock(tmp_path: Path) -> None:
    late = [{**entry(0), "time_created_ns": entry(0)["time_created_ns"] + 70_000}]
    assert not imported(tmp_path, [entry(0)], late).trace.events.offsets_ns.known.any()
    shared = imported(tmp_path, [entry(0)], late, settings=FlightRecorderSettings(assume_shared_clock=True)).trace
    assert shared.events.offsets_ns.row(0) == [0, 70_000]
    moved = imported(tmp_path, [entry(0)], late, settings=FlightRecorderSettings(clock_offsets_us={0: 0, 1: -50}))
    assert moved.trace.events.offsets_ns.row(0) == [0, 20_000]
    with pytest.raises(UsageError, match="rank 1 has no offset"):
        imported(tmp_path, [entry(0)], late, settings=FlightRecorderSettings(clock_offsets_us={0: 0}))


def messages(rank: int) -> list[dict[str, Any]]:
    name = "nccl:send 0->1" if rank == 0 else "nccl:recv 1<-0"
    return [entry(0), entry(1, name, 7, is_p2p=True, seq=1), entry(2, seq=2)]


def test_messages_of_nccl(tmp_path: Path) -> None:
    trace = imported(tmp_path, messages(0), messages(1)).trace
    found = [trace.events.signatures[i] for i in trace.events.signature]
    assert [(s.op, s.bytes, s.sender_rank, s.receiver_rank) for s in found if s.op == "point_to_point"] == [
        ("point_to_point", 28, 0, 1)
    ]


def test_messages_of_rings_that_lost_calls_are_not_aligned(tmp_path: Path) -> None:
    done = imported(tmp_path, messages(0)[1:], messages(1)[1:])
    assert rows(done.trace) == [("all_reduce", 400)]
    assert [c.skipped for c in done.trace.header.coverage if "a message" in c.reason] == [1, 1]


def test_a_message_of_another_rank_shows_a_wrong_name(tmp_path: Path) -> None:
    path = written(tmp_path / "trace_rank_1.json", dump(messages(0)))
    with pytest.raises(InputRefusal, match=r"names ranks 0 and 1 .* in the dump of rank 1; check the rank"):
        import_flight_recorder([path])


@pytest.mark.parametrize(
    ("name", "rank"),
    [("nccl_trace_rank_host_5", 5), ("trace_rank_12.json", 12), ("fr0.pkl", 0), ("host7_rank_3.json.txt", 3)],
)
def test_rank_is_the_number_that_the_name_ends_in(tmp_path: Path, name: str, rank: int) -> None:
    path = written(tmp_path / name, dump([entry(0)], world=16))
    assert import_flight_recorder([path]).trace.header.system["profiled_ranks"] == [rank]


def test_a_name_without_a_number(tmp_path: Path) -> None:
    path = written(tmp_path / "trace.json", dump([entry(0)]))
    with pytest.raises(InputRefusal, match=r"'trace\.json' does not end in the rank; state it with --rank"):
        import_flight_recorder([path])
    trace = import_flight_recorder([path], FlightRecorderSettings(ranks=(1,))).trace
    assert trace.header.system["profiled_ranks"] == [1]


def test_gaps_in_operations_are_counted(tmp_path: Path) -> None:
    calls = [entry(0, op_id=1), entry(1, op_id=5)]
    done = imported(tmp_path, calls)
    assert "op_id 2, 3, 4 has no entry" in done.counts[0]


BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"profiling_name": "nccl:frobnicate"}, r"entries\[0\]\.profiling_name: is 'nccl:frobnicate'"),
    ({"process_group": ["7", "dp"]}, r"is '7', whose ranks pg_config does not list"),
    ({"process_group": []}, r"process_group: is empty"),
    ({"input_dtypes": ["Half"]}, "are Float and Half"),
    ({"input_dtypes": ["Posit"], "output_dtypes": ["Posit"]}, "Posit"),
    ({"input_sizes": [[-3]]}, "input_sizes: are"),
    ({"input_sizes": "[[100]]"}, "input_sizes"),
    ({"time_created_ns": -5}, r"time_created_ns: is -5"),
    ({"time_created_ns": "soon"}, "time_created_ns"),
]


@pytest.mark.parametrize(("change", "told"), BROKEN)
def test_refused(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    with pytest.raises(InputRefusal, match=told) as refused:
        imported(tmp_path, [{**entry(0), **change}])
    assert "trace_rank_0.json" in str(refused.value)


def test_skipped_entries_are_counted(tmp_path: Path) -> None:
    calls = [entry(0), {**entry(1), "profiling_name": "nccl:frobnicate"}]
    done = imported(tmp_path, calls, settings=FlightRecorderSettings(on_error="skip"))
    assert done.summary == "imported 1 collective events (skipped 0 control, 0 empty, 1 refused)"


def test_real_dumps_of_a_gloo_job(shared_traces: Path) -> None:
    """Two all-reduces, an all-gather, a barrier; the message (op_id 3) is not recorded; pg_config has no name."""
    ids = set()
    for suffix in ("json", "pkl"):
        names = [f"flight_recorder_torch2.14_gloo_rank{rank}.{suffix}" for rank in (0, 1)]
        done = import_flight_recorder([shared_traces / "flight_recorder" / name for name in names])
        assert rows(done.trace) == [("all_reduce", 4000), ("all_reduce", 4000), ("all_gather", 8000)]
        assert done.summary == "imported 3 collective events (skipped 2 control, 0 empty)"
        assert [(c.rank, c.unknown) for c in done.trace.header.coverage if c.unknown] == [(0, 1), (1, 1)]
        assert "taken for '0'" in done.trace.header.notes["groups"]
        ids.add(done.trace.content_id)
    assert len(ids) == 1
