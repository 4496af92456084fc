"""A grid's error bounds, recomputed event by event in plain Python."""

from __future__ import annotations

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import events, times

from commcanary.artifacts.events import UNKNOWN, Events
from commcanary.artifacts.trace import Trace, TraceHeader
from commcanary.compile.compiler import CompileSettings, compile_trace
from commcanary.compile.snapping import snapped
from commcanary.sources.synthetic.mixed import mixed

quanta = st.integers(1, 50) | st.sampled_from([1000, 999, 10**6, 10**9])


@given(events(largest=times), quanta)
def test_nothing_moves_further_than_promised(rows: Events, quantum: int) -> None:
    moved = snapped(rows, quantum)
    before, after = list(accumulate(rows.gap_ns.tolist())), list(accumulate(moved.gap_ns.tolist()))
    assert all(2 * abs(a - b) <= quantum for a, b in zip(before, after, strict=True))
    assert all(
        g >= 0 and abs(g - f) <= quantum for f, g in zip(rows.gap_ns.tolist(), moved.gap_ns.tolist(), strict=True)
    )
    for name in ("compute_before_ns", "compute_overlap_ns", "observed_exposed_ns"):
        for a, b in zip(getattr(rows, name).tolist(), getattr(moved, name).tolist(), strict=True):
            assert (a == UNKNOWN) == (b == UNKNOWN)
            assert a == UNKNOWN or (2 * abs(a - b) <= quantum and b % quantum == 0)
    for name in ("offsets_ns", "rank_compute_before_ns"):
        one, other = getattr(rows, name), getattr(moved, name)
        assert one.known.tolist() == other.known.tolist()
        assert all(2 * abs(a - b) <= quantum for a, b in zip(one.values.tolist(), other.values.tolist(), strict=True))
    assert moved.compute_pressure.tolist() == rows.compute_pressure.tolist()


@given(events(largest=times), quanta)
def test_a_first_arrival_stays_first_and_skew_within_half(rows: Events, quantum: int) -> None:
    moved = snapped(rows, quantum)
    for index in range(len(rows)):
        offsets, snapped_offsets = rows.offsets_ns.row(index), moved.offsets_ns.row(index)
        if offsets is not None:
            assert min(snapped_offsets) == 0
            assert 2 * abs(max(offsets) - max(snapped_offsets)) <= quantum


@given(events(largest=times), quanta)
def test_the_canary_states_what_it_lost(rows: Events, quantum: int) -> None:
    trace = Trace.of(TraceHeader(), rows)
    canary = compile_trace(trace, CompileSettings(quantum_ns=quantum))
    fidelity = canary.header.compiler.fidelity
    source, held = trace.events, canary.events
    gaps = [abs(a - b) for a, b in zip(source.gap_ns.tolist(), held.gap_ns.tolist(), strict=True)]
    prefixes = zip(accumulate(source.gap_ns.tolist()), accumulate(held.gap_ns.tolist()), strict=True)
    assert fidelity.max_gap_error_us == max(gaps) / 1000
    assert fidelity.max_prefix_gap_error_us == max(abs(a - b) for a, b in prefixes) / 1000
    offsets = zip(source.offsets_ns.values.tolist(), held.offsets_ns.values.tolist(), strict=True)
    assert fidelity.max_arrival_offset_error_us == max((abs(a - b) for a, b in offsets), default=0) / 1000
    skews = zip(source.skew_ns.tolist(), held.skew_ns.tolist(), strict=True)
    assert fidelity.max_skew_error_us == max((abs(a - b) for a, b in skews), default=0) / 1000
    lossless = source.gap_ns.tolist() == held.gap_ns.tolist() and not any(
        getattr(fidelity, name) for name in fidelity.__struct_fields__[1:]
    )
    assert fidelity.mode == ("lossless_timing" if lossless else "bounded_approximate")


def test_the_clock_error_does_not_grow_with_the_trace() -> None:
    for count in (100, 1000, 20_000):
        fidelity = compile_trace(mixed(1, count), CompileSettings(quantum_ns=1000)).header.compiler.fidelity
        assert fidelity.max_prefix_gap_error_us <= 0.5


def test_times_already_on_the_grid_are_lossless() -> None:
    trace = Trace.of(TraceHeader(), snapped(mixed(2, 300).events, 500))
    canary = compile_trace(trace, CompileSettings(quantum_ns=100))
    assert canary.header.compiler.timing_mode == "lossless_timing"
    assert canary.header.unit_ns == 500
