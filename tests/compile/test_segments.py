"""Segments against a brute-force partition, and their promises against plain sums."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import events, times

from commcanary.artifacts.canary import spread
from commcanary.artifacts.events import UNKNOWN, Events, ProcessGroup, Ragged, Signature
from commcanary.artifacts.trace import Trace, TraceHeader
from commcanary.compile.compiler import CompileSettings, compile_trace
from commcanary.compile.segments import segmented
from commcanary.sources.synthetic.inference import inference
from commcanary.sources.synthetic.mixed import mixed

Columns = list[tuple[int, int, int, int]]


def one_group(rows: Columns) -> Events:
    """Events of one operation on two ranks; columns: gap, compute before, overlap, offset of the second rank."""
    count = len(rows)
    table = np.asarray(rows, np.int64)
    offsets = np.column_stack([np.zeros(count, np.int64), table[:, 3]]).reshape(-1)
    return Events(
        groups=(ProcessGroup("g", 2),),
        signatures=(Signature(op="all_reduce", bytes=8, group=0, phase="p"),),
        signature=np.zeros(count, np.int32),
        gap_ns=table[:, 0],
        offsets_ns=Ragged(offsets, np.arange(0, 2 * count + 1, 2), np.ones(count, np.bool_)),
        compute_before_ns=table[:, 1],
        rank_compute_before_ns=Ragged.unknown(count),
        compute_overlap_ns=table[:, 2],
        compute_pressure=np.full(count, 0.5),
        observed_exposed_ns=np.full(count, UNKNOWN, np.int64),
        message_sequence=np.full(count, UNKNOWN, np.int64),
        consumer=np.full(count, UNKNOWN, np.int64),
        compute_uncertain=np.zeros(count, np.bool_),
    )


def smallest_error(rows: Columns, limit: int) -> int:
    """The smallest possible largest half-range (rounded up) over all partitions into ``limit`` stretches."""
    best = None
    count = len(rows)
    for pieces in range(1, min(limit, count) + 1):
        for cuts in combinations(range(1, count), pieces - 1):
            bounds = [0, *cuts, count]
            worst = max(
                (max(column) - min(column) + 1) // 2
                for start, end in pairwise(bounds)
                for column in zip(*rows[start:end], strict=True)
            )
            best = worst if best is None else min(best, worst)
    assert best is not None
    return best


small = st.integers(0, 12) | st.integers(0, 200)
rows = st.lists(st.tuples(small, small, small, small), min_size=1, max_size=9)


@given(rows, st.integers(1, 4))
def test_boundaries_are_the_best_there_are(rows: Columns, limit: int) -> None:
    source = one_group(rows)
    records = segmented(source, limit)
    ends = np.cumsum(records.count)
    reached = 0
    for start, end in zip(ends - records.count, ends, strict=True):
        for column in zip(*rows[start:end], strict=True):
            reached = max(reached, (max(column) - min(column) + 1) // 2)
    assert len(records.count) <= limit
    assert reached == smallest_error(rows, limit)


@given(rows, st.integers(1, 4))
def test_no_field_is_off_by_more_than_the_best_error(rows: Columns, limit: int) -> None:
    trace = Trace.of(TraceHeader(), one_group(rows))
    fidelity = compile_trace(trace, CompileSettings(timing_sample_limit=limit)).header.compiler.fidelity
    best = smallest_error(rows, limit) / 1000
    assert fidelity.max_compute_before_error_us <= best
    assert fidelity.max_overlap_error_us <= best
    assert fidelity.max_arrival_offset_error_us <= best
    assert fidelity.max_skew_error_us <= best


@given(events(largest=times), st.integers(1, 3))
def test_the_total_of_the_gaps_is_exact(source: Events, limit: int) -> None:
    records = segmented(source, limit)
    assert int(records.gap_total_ns.sum()) == int(source.gap_ns.sum())
    assert records.gap_total_ns.min() >= 0
    assert int(records.count.sum()) == len(source)


@given(rows, st.integers(1, 4))
def test_gaps_within_the_least_error_that_keeps_their_total(rows: Columns, limit: int) -> None:
    """Each stretch may hold any constant; the least error for which the total still fits, by trying all."""
    source = one_group(rows)
    records = segmented(source, limit)
    ends = np.cumsum(records.count)
    stretches = [source.gap_ns[e - c : e].tolist() for e, c in zip(ends.tolist(), records.count.tolist(), strict=True)]
    held = spread(records.gap_total_ns, records.count)
    error = int(np.abs(held - source.gap_ns).max())
    best = smallest_error(rows, limit)
    total = sum(map(sum, stretches))

    def fits(allowed: int) -> bool:
        least = sum(max(max(s) - allowed, 0) * len(s) for s in stretches)
        most = sum((min(s) + allowed) * len(s) for s in stretches)
        return least <= total <= most

    needed = next(e for e in range(best, 10_000) if fits(e))
    assert error <= needed


@given(events(largest=times), st.integers(1, 3))
def test_what_is_unknown_stays_unknown_and_links_stay(source: Events, limit: int) -> None:
    trace = Trace.of(TraceHeader(), source)
    held = compile_trace(trace, CompileSettings(timing_sample_limit=limit)).events
    assert (held.compute_before_ns == UNKNOWN).tolist() == (trace.events.compute_before_ns == UNKNOWN).tolist()
    assert (held.compute_overlap_ns == UNKNOWN).tolist() == (trace.events.compute_overlap_ns == UNKNOWN).tolist()
    assert held.offsets_ns.known.tolist() == trace.events.offsets_ns.known.tolist()
    assert held.consumer.tolist() == trace.events.consumer.tolist()
    assert held.message_sequence.tolist() == trace.events.message_sequence.tolist()
    assert held.signature.tolist() == trace.events.signature.tolist()


@given(events(largest=times), st.integers(1, 3))
def test_no_group_of_adjacent_equal_operations_has_more_records(source: Events, limit: int) -> None:
    records = segmented(source, limit)
    key = list(zip(
        source.signature.tolist(), source.message_sequence.tolist(), source.compute_uncertain.tolist(),
        source.offsets_ns.known.tolist(), source.rank_compute_before_ns.known.tolist(),
        (source.compute_before_ns == UNKNOWN).tolist(), (source.compute_overlap_ns == UNKNOWN).tolist(),
        (source.consumer - np.arange(len(source)) * (source.consumer != UNKNOWN)).tolist(), strict=True,
    ))  # fmt: skip
    begins = [i for i in range(len(key)) if i == 0 or key[i] != key[i - 1]]
    starts = (np.cumsum(records.count) - records.count).tolist()
    for begin, end in zip(begins, [*begins[1:], len(key)], strict=True):
        assert begin in starts
        assert sum(begin <= start < end for start in starts) <= limit


def test_a_limit_that_is_never_reached_is_lossless() -> None:
    canary = compile_trace(inference(1, 200), CompileSettings(timing_sample_limit=64))
    assert canary.header.compiler.timing_mode == "lossless_timing"


@pytest.mark.parametrize("limit", [1, 2, 8, 32])
def test_more_records_never_lose_more(limit: int) -> None:
    trace = Trace.of(TraceHeader(), one_group(mixed_columns(400)))
    fewer, more = (
        compile_trace(trace, CompileSettings(timing_sample_limit=n)).header.compiler.fidelity
        for n in (limit, 2 * limit)
    )
    worst = ("max_compute_before_error_us", "max_overlap_error_us", "max_arrival_offset_error_us")
    assert max(getattr(more, n) for n in worst) <= max(getattr(fewer, n) for n in worst)


def mixed_columns(count: int) -> Columns:
    source = mixed(4, count).events
    skew = source.skew_ns
    return [
        (int(source.gap_ns[i]), int(source.compute_before_ns[i]), int(source.compute_overlap_ns[i]), int(skew[i]))
        for i in range(count)
    ]


@given(
    st.lists(st.tuples(st.integers(0, 10**15), st.integers(1, 50)), min_size=1, max_size=8),
)
def test_spread_adds_up_and_is_even(records: list[tuple[int, int]]) -> None:
    totals, counts = (np.asarray(column, np.int64) for column in zip(*records, strict=True))
    gaps = spread(totals, counts).tolist()
    at = 0
    for total, count in records:
        own = gaps[at : at + count]
        assert sum(own) == total
        assert own == [(i + 1) * total // count - i * total // count for i in range(count)]
        at += count


def test_gaps_that_add_up_to_more_than_one_time_may_be_leave_no_unit_of_their_own() -> None:
    trace = Trace.of(TraceHeader(), one_group([(0, 0, 0, 0), *[(10**15, 0, 0, 0)] * 3]))
    canary = compile_trace(trace, CompileSettings(timing_sample_limit=1))
    assert canary.header.unit_ns == 1  # not 3 * 10**15, which no reader of a canary takes
    assert canary.events.gap_ns.sum() == 3 * 10**15
