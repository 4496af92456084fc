"""Schedules of compute and buckets: worked examples, a closed form, and a step-by-step twin."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commcanary.errors import InputRefusal
from commcanary.timeline.alpha_beta import AlphaBeta
from commcanary.timeline.segment import Bucket
from commcanary.timeline.segment_schedule import Interference, interference_of_slowdown, scheduled

MIB = 1 << 20
LAW = AlphaBeta(1000.0, 16 * MIB / 1e6)
"""1 ms and 16 MiB/ms."""


def bucket(name: str, mib: float, ready_ms: float, needed_ms: float | None = None) -> Bucket:
    needed = None if needed_ms is None else 1000 * needed_ms
    return Bucket(name=name, bytes=int(mib * MIB), ready_us=1000 * ready_ms, needed_us=needed)


def test_one_exposed_bucket() -> None:
    found = scheduled(210_000, [bucket("all", 96, 210)], LAW)
    assert (found.step, found.tail, found.slowdown) == pytest.approx((217_000, 7_000, 0))
    assert found.peak_buffer_bytes == 96 * MIB


def test_bucket_in_two_parts() -> None:
    found = scheduled(210_000, [bucket("early", 80, 202), bucket("late", 16, 210)], LAW)
    assert (found.step, found.tail) == pytest.approx((212_000, 2_000))
    assert [p.completion for p in found.placed] == pytest.approx([208_000, 212_000])
    assert found.peak_buffer_bytes == 80 * MIB


def test_bucket_in_two_parts_with_a_measured_slowdown() -> None:
    buckets = [bucket("early", 80, 202), bucket("late", 16, 210)]
    interference = interference_of_slowdown(210_000, buckets, LAW, 0.0, 1000.0)
    assert interference.compute == pytest.approx(0.2), "1 ms is lost in the 6 ms of the first part"
    found = scheduled(210_000, buckets, LAW, interference)
    assert (found.step, found.tail, found.slowdown) == pytest.approx((213_000, 2_000, 1_000))


def test_the_same_with_another_law() -> None:
    """0.5 ms and 8 MiB/ms: 12.5 ms exposed; in parts 10.5 ms from 202 on, then 2.5 ms from 212.5 on."""
    law = AlphaBeta(500.0, 8 * MIB / 1e6)
    assert scheduled(210_000, [bucket("all", 96, 210)], law).step == pytest.approx(222_500)
    found = scheduled(210_000, [bucket("early", 80, 202), bucket("late", 16, 210)], law)
    assert found.step == pytest.approx(215_000)
    assert found.placed[1].start - found.placed[1].ready == pytest.approx(2_500)
    assert found.peak_buffer_bytes == 96 * MIB, "the second part waits beside the first"


def test_matmul_beside_an_all_reduce_gains_12_ms_not_20() -> None:
    """25 ms of matmul and 20 ms of transfer; together the matmul takes 29 ms and 4 ms are left over."""
    law = AlphaBeta(0.0, 1 * MIB / 1e6)
    interference = Interference(0.16, 0.8125)
    after = scheduled(25_000, [bucket("all", 20, 25)], law, interference)
    beside = scheduled(25_000, [bucket("all", 20, 0)], law, interference)
    assert after.step == pytest.approx(45_000)
    assert (beside.step, beside.slowdown, beside.tail) == pytest.approx((33_000, 4_000, 4_000))
    assert after.step - beside.step == pytest.approx(12_000)
    assert after.step - scheduled(25_000, [bucket("all", 20, 0)], law).step == pytest.approx(20_000)


def test_slowdown_without_a_tail_counts_once() -> None:
    """c = 26, u = 25 alone and 30 beside it."""
    law = AlphaBeta(0.0, 1 * MIB / 1e6)
    buckets = [bucket("all", 26, 0)]
    found = scheduled(25_000, buckets, law, interference_of_slowdown(25_000, buckets, law, 0.0, 5_000))
    assert (found.step, found.tail, found.slowdown) == pytest.approx((30_000, 0, 5_000))
    assert found.placed[0].completion == pytest.approx(26_000)
    assert found.placed[0].needed == pytest.approx(30_000)


def test_slowdown_that_nothing_explains_is_refused() -> None:
    with pytest.raises(InputRefusal, match=r"is 7000 us, but only 6000\.000 us of collectives run beside compute"):
        interference_of_slowdown(210_000, [bucket("early", 80, 202)], LAW, 0.0, 7_000)


def test_compute_stands_still_where_it_needs_a_bucket() -> None:
    """Needed after 3 ms, complete after 1 + 1 + 4 = 6: 3 ms of tail, then the rest of the compute."""
    found = scheduled(10_000, [bucket("a", 64, 1, needed_ms=3)], LAW)
    assert (found.step, found.tail) == pytest.approx((13_000, 3_000))
    assert found.placed[0].needed == pytest.approx(3_000)


def test_order_in_which_compute_waits_for_ever_is_refused() -> None:
    with pytest.raises(InputRefusal, match="first: is needed before second"):
        scheduled(10_000, [bucket("second", 1, 8), bucket("first", 1, 1, needed_ms=4)], LAW)


def test_compute_of_nothing() -> None:
    assert scheduled(0, [bucket("a", 16, 0)], LAW).step == pytest.approx(2_000)


times = st.integers(0, 50).map(float)
segments = st.lists(st.tuples(st.integers(1, 40), times), min_size=1, max_size=5)


@given(segments, st.integers(0, 5).map(float))
def test_closed_form_without_interference(given_buckets: list[tuple[int, float]], startup: float) -> None:
    """c_i = max(r_i, c_(i-1)) + startup + bytes / bandwidth, and the step ends at the last of compute and c."""
    law = AlphaBeta(startup, 0.001)
    buckets = [Bucket(name=str(i), bytes=size, ready_us=ready) for i, (size, ready) in enumerate(given_buckets)]
    free = 0.0
    for each in buckets:
        free = max(free, each.ready_us) + startup + each.size
    found = scheduled(50.0, buckets, law)
    assert found.step == pytest.approx(max(50.0, free))
    assert found.step == pytest.approx(50.0 + found.tail + found.slowdown)


def twin(buckets: list[Bucket], law: AlphaBeta, interference: Interference, tick: float) -> float:
    """The step's length by small ticks of time."""
    time = work = 0.0
    done: set[int] = set()
    head, phase = 0, 0.0
    latency, transfer = law.startup_us, [law.time_us(b.size) - law.startup_us for b in buckets]
    flying = False
    while work < 50.0 - 1e-9 or len(done) < len(buckets):
        if not flying and head < len(buckets) and work >= buckets[head].ready_us - 1e-9:
            flying, phase, latency = True, transfer[head], law.startup_us
        waits = any(
            i not in done and work >= (50.0 if b.needed_us is None else b.needed_us) - 1e-9
            for i, b in enumerate(buckets)
        )
        computing = work < 50.0 - 1e-9 and not waits
        time += tick
        if computing:
            work += tick / (1 + interference.compute) if flying else tick
        if flying and latency > 1e-9:
            latency -= tick
        elif flying:
            phase -= tick / (1 + interference.transfer) if computing else tick
        if flying and latency <= 1e-9 and phase <= 1e-9:
            done.add(head)
            head, flying = head + 1, False
    return time


@settings(max_examples=25, deadline=None)
@given(
    segments,
    st.floats(0, 1).filter(lambda x: x == 0 or x > 0.01),
    st.floats(0, 1),
    st.integers(0, 3).map(float),
    st.booleans(),
)
def test_twin_in_small_ticks(
    given_buckets: list[tuple[int, float]], a: float, b: float, startup: float, needed: bool
) -> None:
    law = AlphaBeta(startup, 0.001)
    ordered = sorted(given_buckets, key=lambda pair: pair[1])
    buckets = [
        Bucket(name=str(i), bytes=size, ready_us=ready, needed_us=min(50.0, ready + 7) if needed else None)
        for i, (size, ready) in enumerate(ordered)
    ]
    interference = Interference(a, b)
    found = scheduled(50.0, buckets, law, interference)
    assert found.step == pytest.approx(twin(buckets, law, interference, 0.01), abs=0.02 * (4 + 8 * len(buckets)))
    assert found.step == pytest.approx(50.0 + found.tail + found.slowdown)
    slower = scheduled(50.0, buckets, AlphaBeta(startup + 1, 0.0009), interference)
    assert slower.step >= found.step - 1e-9


@given(segments)
def test_peak_buffer_is_between_the_largest_bucket_and_all(given_buckets: list[tuple[int, float]]) -> None:
    buckets = [Bucket(name=str(i), bytes=size, ready_us=ready) for i, (size, ready) in enumerate(given_buckets)]
    for order in list(permutations(buckets))[:6]:
        peak = scheduled(50.0, order, AlphaBeta(1.0, 0.001)).peak_buffer_bytes
        assert max(b.size for b in buckets) <= peak <= sum(b.size for b in buckets)
