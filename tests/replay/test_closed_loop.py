"""closed-loop-v1: both kernels against the plain-Python twin, and worked examples."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from commcanary.artifacts.events import Events
from commcanary.replay import closed_loop_run, twin_closed_loop
from commcanary.replay.configuration import ABLATIONS, Configuration
from commcanary.replay.in_flight_layout import in_flight_layout
from commcanary.replay.model import model_named
from commcanary.replay.samples import Samples

from .programs import closed_loop_programs

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


@settings(max_examples=400, deadline=None)
@given(closed_loop_programs(), configurations, ablations, st.integers(1, 2))
def test_kernels_equal_the_twin(
    events: Events, configuration: Configuration, left_out: tuple[str, ...], iterations: int
) -> None:
    samples = MODEL.run(MODEL.prepare(events, left_out), configuration, (7, 8), iterations)
    runs = twin_closed_loop.replay(events, configuration, (7, 8), iterations, left_out)
    assert_same(samples, runs, len(events))
