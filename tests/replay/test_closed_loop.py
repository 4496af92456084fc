"""closed-loop-v1: both kernels against the plain-Python twin, and worked examples."""

from __future__ import annotations

from dataclasses import fields
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commcanary.artifacts.events import Events, ProcessGroup
from commcanary.errors import InputRefusal, UnknownValueRefusal
from commcanary.replay import closed_loop_run, twin_closed_loop
from commcanary.replay.configuration import ABLATIONS, Configuration
from commcanary.replay.in_flight_layout import in_flight_layout
from commcanary.replay.model import model_named
from commcanary.replay.samples import Samples
from commcanary.replay.schedule import Segment

from .programs import closed_loop_programs, events_of, kind, random_closed_loop_rows

MODEL = model_named("closed-loop-v1")
TOLERANCE_NS = 1.001  # a value may be rounded to the other neighbour

slowdowns = st.sampled_from([0.0, 0.0, 0.16, 0.5, 0.8125, 3.0]) | st.floats(0, 4)
configurations = st.builds(
    Configuration,
    bandwidth_gbps=st.sampled_from([1.0, 28.0, 55.0, 400.0]),
    latency_floor_us=st.sampled_from([0.0, 7.5]),
    compute_slowdown=slowdowns,
    transfer_slowdown=slowdowns,
)
ablations = st.lists(st.sampled_from(ABLATIONS), max_size=2, unique=True).map(tuple)


def assert_same(samples: Samples, runs: list[twin_closed_loop.Run], events: int) -> None:
    columns = {
        "exposed_us": "exposed",
        "total_us": "total",
        "queue_wait_us": "queue_wait",
        "skew_us": "skew",
        "rank_wait_us": "rank_wait",
    }
    for name, twin in columns.items():
        expected = [value for run in runs for value in getattr(run, twin)]
        np.testing.assert_allclose(getattr(samples, name) * 1000, expected, rtol=0, atol=TOLERANCE_NS, err_msg=name)
    schedule = samples.schedule
    assert schedule is not None
    for i, run in enumerate(runs):
        assert abs(schedule.makespan_ns[i] - run.makespan) <= TOLERANCE_NS
        found = zip(schedule.ranks.tolist(), schedule.busy_ns[i].tolist(), schedule.exposed_ns[i].tolist(), strict=True)
        for rank, busy, exposed in found if events else ():
            assert abs(busy - run.busy[rank]) <= events + 1
            assert abs(exposed - run.standing[rank]) <= events + 1
        path = schedule.critical_path(i)
        assert sum(segment.ns for segment in path) == schedule.makespan_ns[i]
        assert sum(segment.ns for segment in run.path) == run.makespan
        if run.makespan == schedule.makespan_ns[i] and (schedule.idle_ns[i] >= 0).all():
            assert path == run.path
    assert (schedule.idle_ns >= 0).all()


@settings(max_examples=150, deadline=None)
@given(closed_loop_programs(), configurations, ablations, st.integers(1, 2))
def test_kernels_equal_the_twin(
    events: Events, configuration: Configuration, left_out: tuple[str, ...], iterations: int
) -> None:
    samples = MODEL.run(MODEL.prepare(events, left_out), configuration, (7, 8), iterations)
    runs = twin_closed_loop.replay(events, configuration, (7, 8), iterations, left_out)
    assert_same(samples, runs, len(events))


@pytest.mark.parametrize("at_once", [False, True])
def test_kernels_equal_the_twin_on_many_programs(at_once: bool) -> None:
    """Thousands of programs in all; hypothesis alone is too slow for that many."""
    rng = Random(20)
    for _ in range(1000):
        events = events_of(*random_closed_loop_rows(rng, at_once, rng.randint(1, 20)))
        configuration = Configuration(
            bandwidth_gbps=rng.choice([1, 28, 55, 400]),
            compute_slowdown=rng.choice([0, 0.16, 1, 3.3]),
            transfer_slowdown=rng.choice([0, 0.8125, 1, 2.7]),
        )
        samples = MODEL.run(MODEL.prepare(events), configuration, (7,), 1)
        assert_same(samples, twin_closed_loop.replay(events, configuration, (7,), 1), len(events))


@settings(max_examples=150, deadline=None)
@given(
    closed_loop_programs(at_once=True),
    slowdowns,
    slowdowns,
    st.lists(st.integers(0, 30_000), min_size=14, max_size=14),
    st.lists(st.just(0.0) | st.floats(0, 60_000), min_size=14, max_size=14),
)
def test_the_closed_form_is_the_general_case_exactly(
    events: Events, a: float, b: float, latencies: list[int], works: list[float]
) -> None:
    program = MODEL.prepare(events, ("noise",))
    assert program.in_flight is None
    layout = in_flight_layout(
        program.signature,
        program.stream,
        program.streams,
        len(program.ranks),
        program.member_bounds,
        program.members,
        program.before_ns,
        program.consumer,
    )
    count = len(events)
    latency, work = np.array(latencies[:count], dtype=np.int64), np.array(works[:count], dtype=np.float64)
    found, expected = np.zeros((5, count)), np.zeros((5, count))
    closed = closed_loop_run.closed_form(program, a, b, latency, work, found)
    general = closed_loop_run.general(program, layout, a, b, latency, work, expected)
    assert (found == expected).all()
    for field in fields(closed):
        assert (getattr(closed, field.name) == getattr(general, field.name)).all(), field.name


MS = 1_000_000


def one_event_without_latency(before: int, overlap: int, work: float, a: float, b: float) -> closed_loop_run.Outcome:
    row = {"signature": kind("broadcast", 8), "compute_before_ns": before, "compute_overlap_ns": overlap}
    program = MODEL.prepare(events_of([row], (ProcessGroup("dp", 2),)), ("noise",))
    latency, works = np.zeros(1, np.int64), np.array([work])
    return closed_loop_run.run_program(program, a, b, latency, works, np.zeros((5, 1)))


def test_interference_by_hand() -> None:
    """25 ms of compute beside a 20 ms transfer: compute takes 29 ms, in which 16 ms are sent; 4 ms remain."""
    outcome = one_event_without_latency(0, 25 * MS, 20 * MS, a=0.16, b=0.8125)
    assert outcome.free.tolist() == [33 * MS, 33 * MS]
    assert outcome.busy.tolist() == [29 * MS, 29 * MS]
    assert outcome.exposed.tolist() == [4 * MS, 4 * MS]


def test_interference_by_hand_through_a_configuration() -> None:
    row = {
        "signature": kind("broadcast", 55 * 10**6 // 8 * 25),  # 25 ms at 55 Gbit/s, times 0.8: 20 ms
        "compute_before_ns": 0,
        "compute_overlap_ns": 25 * MS,
        "compute_pressure": 0.0,
    }
    configuration = Configuration(compute_slowdown=0.16, transfer_slowdown=0.8125)
    samples = MODEL.run(MODEL.prepare(events_of([row], (ProcessGroup("dp", 2),))), configuration, (7,), 1)
    assert samples.schedule.makespan_ns[0] == pytest.approx(33 * MS, rel=1e-3)


def test_a_transfer_that_outlives_the_compute_that_slows_it_and_compute_that_outlives_the_transfer() -> None:
    assert one_event_without_latency(0, 10, 100, a=0, b=1.0).free.tolist() == [105, 105]  # 5 sent by 10
    outcome = one_event_without_latency(0, 100, 10, a=1.0, b=0)
    assert outcome.free.tolist() == [105, 105]  # 5 computed by 10
    assert outcome.exposed.tolist() == [0, 0]


def test_two_transfers_share_a_rank() -> None:
    """Two broadcasts of 20 us of work each, on rank 1 at once: each runs at half rate while both are sending."""
    groups = (ProcessGroup.of("a", (0, 1)), ProcessGroup.of("b", (1, 2)))
    payload = 55 * 1000 // 8 * 25  # 25 us at 55 Gbit/s, times 0.8
    rows = [
        {"signature": kind("broadcast", payload, 0), "compute_before_ns": 0, "compute_pressure": 0.0, "consumer": 1},
        {"signature": kind("broadcast", payload, 1), "compute_before_ns": 0, "compute_pressure": 0.0},
    ]
    # rank 1 waits for the first before it begins the second's compute: no sharing
    free = Configuration(latency_floor_us=0)
    waited = MODEL.run(MODEL.prepare(events_of(rows, groups), ("noise",)), free, (7,), 1)
    assert waited.schedule.makespan_ns[0] == 2 * (5150 + 20_000)
    third = {"signature": kind("send", 1, 0), "compute_before_ns": 0, "compute_pressure": 0.0}
    rows[0]["consumer"] = 2
    shared = MODEL.run(MODEL.prepare(events_of([*rows, third], groups), ("noise",)), free, (7,), 1)
    assert shared.total_us[:2].tolist() == [45.15, 45.15]
    assert shared.exposed_us[:2].tolist() == [45.15, 45.15]
    assert shared.schedule.exposed_ns[0, 1] == shared.schedule.makespan_ns[0]  # one wait, counted once


def test_what_is_hidden_is_what_the_schedule_hides() -> None:
    """Consumed by the next event of its own ranks, after 30 us of other compute: the rest is exposed."""
    row = {"signature": kind("all_reduce", 1), "compute_before_ns": 0, "compute_overlap_ns": 0}
    first = {**row, "consumer": 2}
    middle = {"signature": kind("all_reduce", 1, 1), "compute_before_ns": 30_000}
    events = events_of([first, middle, row], (ProcessGroup("a", 2), ProcessGroup.of("b", (0, 2))))
    slow = MODEL.run(MODEL.prepare(events, ("noise",)), Configuration(latency_floor_us=94.85), (7,), 1)
    # rank 1 reaches the consumer at once; rank 0 computes 30 us first, then both wait
    assert slow.total_us[0] == 100.0
    assert slow.exposed_us[0] == 100.0
    assert slow.schedule.busy_ns[0].tolist() == [30_000, 0, 30_000]
    assert slow.schedule.critical_path(0) == [
        Segment(0, False, 30_000),
        Segment(0, True, 100_000),
        Segment(0, True, 100_000),
    ]


@pytest.mark.parametrize(
    ("column", "place"),
    [
        ("compute_before_ns", "events[1].compute_before_us"),
        ("compute_overlap_ns", "events[1].compute_overlap_us"),
        ("offsets_ns", "events[1].rank_arrival_us"),
    ],
)
def test_an_unknown_value_is_refused(column: str, place: str) -> None:
    row = {"signature": kind("broadcast", 8), "compute_before_ns": 5}
    blank = {**row, column: None if column == "offsets_ns" else -1}
    events = events_of([row, blank, blank], (ProcessGroup("g", 2),))
    with pytest.raises(UnknownValueRefusal) as caught:
        MODEL.prepare(events)
    assert caught.value.place == place
    assert "2 of 3 events" in caught.value.found
    assert "--assume" in caught.value.remedy


def test_a_rank_that_has_its_own_compute_needs_no_other() -> None:
    row = {"signature": kind("broadcast", 8), "rank_compute_before_ns": [3, 5], "offsets_ns": None}
    events = events_of([row], (ProcessGroup("g", 2),))
    with pytest.raises(UnknownValueRefusal, match="rank_arrival_us"):  # the tail's size needs the declared skew
        MODEL.prepare(events)
    samples = MODEL.run(MODEL.prepare(events, ("rare_tail_windows",)), Configuration(), (7,), 1)
    assert samples.skew_us.tolist() == [0.002]


def test_misfitting_compute_and_consumers_are_refused() -> None:
    row = {"signature": kind("broadcast", 8), "rank_compute_before_ns": [3, 5, 7]}
    with pytest.raises(InputRefusal, match=r"events\[0\]\.rank_compute_before_us: 3 values for a group of 2"):
        MODEL.prepare(events_of([row], (ProcessGroup("g", 2),)))
    backwards = {"signature": kind("broadcast", 8), "compute_before_ns": 0, "consumer": 0}
    with pytest.raises(InputRefusal, match=r"events\[0\]\.consumed_by"):
        MODEL.prepare(events_of([backwards], (ProcessGroup("g", 2),)))


def test_no_events_make_an_empty_schedule() -> None:
    events = events_of([], (ProcessGroup("g", 2),))
    samples = MODEL.run(MODEL.prepare(events), Configuration(), (7, 8), 2)
    assert len(samples) == 0
    assert samples.schedule.makespan_ns.tolist() == [0, 0, 0, 0]
    assert samples.schedule.critical_path(3) == []
