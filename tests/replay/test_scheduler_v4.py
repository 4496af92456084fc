"""scheduler-v4: worked vectors, the plain-Python twin as oracle, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commcanary.artifacts.events import Events, ProcessGroup, Ragged
from commcanary.errors import InputRefusal, UnknownValueRefusal
from commcanary.replay import twin_v4
from commcanary.replay.configuration import ABLATIONS, NAMED, Configuration
from commcanary.replay.metrics import summarise
from commcanary.replay.model import model_named

from .programs import events_of, kind, open_loop_programs

MODEL = model_named("scheduler-v4")
COLUMNS = ("exposed_us", "total_us", "queue_wait_us", "skew_us", "rank_wait_us")
TP0 = (ProcessGroup("tp0", 8),)
VECTOR = {
    "signature": kind("all_reduce", 262_144, phase="prefill"),
    "offsets_ns": [0, 1521, 1642, 3163, 3284, 4804, 4925, 6446],
    "compute_pressure": 0.48,
    "compute_overlap_ns": 35_297,
}

configurations = st.builds(
    Configuration,
    bandwidth_gbps=st.floats(0.5, 3000),
    latency_floor_us=st.floats(0, 100),
    compute_pressure=st.sampled_from([0.0, 0.55, 0.95, 1e9]),
    overlap_efficiency=st.sampled_from([0.0, 0.72, 1.0]),
)


def test_the_worked_vector() -> None:
    events = events_of([VECTOR], TP0)
    prepared = MODEL.prepare(events)
    samples = MODEL.run(prepared, Configuration(), (7,), 1)
    assert prepared.noise_hash.tolist() == [0x4B236828735A48C1]
    assert round(samples.total_us[0], 3) == 94.481
    assert round(samples.exposed_us[0], 3) == 69.067
    assert round(samples.total_us[0] - samples.exposed_us[0], 3) == 25.414
    assert round(samples.total_us[0] - 6.446, 3) == 88.035
    assert samples.queue_wait_us[0] == 0
    quiet = MODEL.run(MODEL.prepare(events, ("noise",)), Configuration(), (7,), 1)
    assert round(samples.total_us[0] - quiet.total_us[0], 5) == 0.59214
    no_tail = MODEL.run(MODEL.prepare(events, ("rare_tail_windows",)), Configuration(), (7,), 1)
    assert no_tail.total_us[0] == samples.total_us[0]


def ranking_inversion() -> Events:
    odd = {10, 30, 50, 70, 90}
    rows = [
        {
            "signature": kind("all_reduce", 1024, phase="decode"),
            "gap_ns": 500_000 if i - 1 in odd else 1000,
            "offsets_ns": [0, 500_000 if i in odd else 0],
            "compute_overlap_ns": 10_000_000 if i in odd else 0,
            "compute_pressure": 1.0 if i in odd else 0.5,
        }
        for i in range(100)
    ]
    return events_of(rows, (ProcessGroup("tp", 2),))


@pytest.mark.parametrize(
    ("configuration", "isolated", "full"),
    [
        (Configuration(latency_floor_us=7, overlap_efficiency=0), 12.834, 127.284),
        (Configuration(latency_floor_us=8, overlap_efficiency=1), 13.834, 127.042),
    ],
)
def test_the_published_ranking_inversion(configuration: Configuration, isolated: float, full: float) -> None:
    workload = ranking_inversion()
    for events, expected in ((workload.take(np.array([0])), isolated), (workload, full)):
        samples = MODEL.run(MODEL.prepare(events), configuration, (1,), 1)
        assert summarise(samples, events).metrics.median_us == expected


@settings(max_examples=200, deadline=None)
@given(
    open_loop_programs(),
    configurations,
    st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=2, unique=True).map(tuple),
    st.integers(1, 2),
    st.lists(st.sampled_from(ABLATIONS), max_size=3, unique=True).map(tuple),
)
def test_kernel_equals_twin(
    events: Events,
    configuration: Configuration,
    seeds: tuple[int, ...],
    iterations: int,
    ablations: tuple[str, ...],
) -> None:
    prepared = MODEL.prepare(events, ablations)
    samples = MODEL.run(prepared, configuration, seeds, iterations)
    expected = twin_v4.replay(events, configuration, seeds, iterations, ablations)
    assert np.tile(prepared.order, len(seeds) * iterations).tolist() == [sample.event for sample in expected]
    for column in COLUMNS:
        # 0.001 us, or the last bits of a clock that runs for days
        twin = [getattr(sample, column) for sample in expected]
        np.testing.assert_allclose(getattr(samples, column), twin, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("ablation", ABLATIONS)
def test_each_ablation_alone(ablation: str) -> None:
    odd = {**VECTOR, "signature": kind("broadcast", 900, phase="decode"), "gap_ns": 3_000}
    events = events_of([VECTOR, odd, VECTOR, odd] * 5, TP0)
    before = twin_v4.replay(events, NAMED["congested"], (3,), 2)
    after = twin_v4.replay(events, NAMED["congested"], (3,), 2, (ablation,))
    samples = MODEL.run(MODEL.prepare(events, (ablation,)), NAMED["congested"], (3,), 2)
    np.testing.assert_allclose(samples.exposed_us, [s.exposed_us for s in after], rtol=0, atol=1e-9)
    assert ([s.exposed_us for s in before] == [s.exposed_us for s in after]) == (ablation == "observed_exposed")


def test_iterations_and_seeds_are_independent_runs() -> None:
    events = ranking_inversion()
    prepared = MODEL.prepare(events)
    both = MODEL.run(prepared, NAMED["baseline"], (5, 6), 2).exposed_us.reshape(2, 2, 100)
    assert (both[1] == MODEL.run(prepared, NAMED["baseline"], (6,), 2).exposed_us.reshape(2, 100)).all()
    assert (both[0, 0] == MODEL.run(prepared, NAMED["baseline"], (5,), 1).exposed_us).all()
    assert (both[0, 0] != both[0, 1]).any()


def test_an_unknown_ablation_is_refused() -> None:
    with pytest.raises(InputRefusal, match=r"ablations\[0\].*'skew' is no ablation.*arrival_skew"):
        MODEL.prepare(events_of([VECTOR], TP0), ("skew",))


def test_no_events_give_no_samples() -> None:
    events = ranking_inversion().take(np.zeros(0, np.int64))
    samples = MODEL.run(MODEL.prepare(events), Configuration(), (1, 2), 3)
    assert len(samples) == 0
    assert summarise(samples, events).metrics.count == 0


@pytest.mark.parametrize(
    ("field", "column", "ablation"),
    [
        ("rank_arrival_us", "offsets_ns", "arrival_skew"),
        ("compute_overlap_us", "compute_overlap_ns", "compute_overlap"),
        ("gap_us", "gap_ns", "queue_reset_gaps"),
        ("compute_pressure", "compute_pressure", "pressure"),
    ],
)
def test_an_unknown_value_is_refused_unless_ablated(field: str, column: str, ablation: str) -> None:
    events = events_of([VECTOR] * 5, TP0)
    if column == "offsets_ns":
        rows = [events.offsets_ns.row(i) for i in range(5)]
        unknown = Ragged.of([None if i in (3, 4) else row for i, row in enumerate(rows)])
    else:
        unknown = getattr(events, column).copy()
        unknown[3:] = np.nan if column == "compute_pressure" else -1
    events = replace(events, **{column: unknown})
    with pytest.raises(UnknownValueRefusal) as caught:
        MODEL.prepare(events)
    assert caught.value.place == f"events[3].{field}"
    assert "2 of 5 events" in caught.value.found
    assert caught.value.remedy
    samples = MODEL.run(MODEL.prepare(events, (ablation,)), Configuration(), (7,), 1)
    twin = twin_v4.replay(events, Configuration(), (7,), 1, (ablation,))
    assert samples.total_us.tolist() == [sample.total_us for sample in twin]


def test_an_empty_group_and_misfitting_arrivals_are_refused() -> None:
    with pytest.raises(InputRefusal, match=r"groups\[1\]\.ranks"):
        MODEL.prepare(events_of([VECTOR], (*TP0, ProcessGroup("none", 0))))
    short = {**VECTOR, "offsets_ns": [0, 1]}
    with pytest.raises(InputRefusal, match=r"events\[1\]\.rank_arrival_us: 2 arrivals for a group of 8 ranks"):
        MODEL.prepare(events_of([VECTOR, short], TP0))
