"""The 1F1B pipeline: its bubble is what the textbook says, and the closed loop finds it."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commcanary.artifacts.trace_checks import check_trace
from commcanary.errors import UsageError
from commcanary.replay.configuration import NAMED
from commcanary.replay.model import model_named
from commcanary.replay.schedule import Schedule
from commcanary.sources.synthetic.hops import Hop, arrivals_ns
from commcanary.sources.synthetic.one_f_one_b import one_f_one_b
from commcanary.sources.synthetic.pipeline import PipelineShape, pipeline
from commcanary.sources.synthetic.registry import synthesis
from commcanary.sources.synthetic.synthesis import Synthesis

MODEL = model_named("closed-loop-v1")


def replayed(made: Synthesis, name: str = "baseline") -> Schedule:
    prepared = MODEL.prepare(made.trace.events, ("noise",))
    schedule: Schedule | None = MODEL.run(prepared, NAMED[name], (7,), 1).schedule
    assert schedule is not None
    return schedule


@given(st.integers(2, 8), st.integers(1, 20), st.integers(1, 9), st.integers(1, 9))
def test_without_communication_it_has_the_textbook_bubble(p: int, m: int, forward: int, backward: int) -> None:
    stages = one_f_one_b(p, m, forward, backward)
    assert max(tasks[-1].end for tasks in stages) == (m + p - 1) * (forward + backward)
    for tasks in stages:
        assert sum(task.end - task.start for task in tasks) == m * (forward + backward)
        assert all(before.end <= after.start for before, after in pairwise(tasks))


def test_two_stages_by_hand() -> None:
    """Forward 1, backward 2: stage 0 does F0 F1 wait B0 F2 ..., stage 1 alternates from 1 on."""
    first, second = one_f_one_b(2, 3, 1, 2)
    assert [(t.forward, t.microbatch, t.start) for t in second] == [
        (True, 0, 1),
        (False, 0, 2),
        (True, 1, 4),
        (False, 1, 5),
        (True, 2, 7),
        (False, 2, 8),
    ]
    assert [(t.forward, t.microbatch, t.start) for t in first] == [
        (True, 0, 0),
        (True, 1, 1),
        (False, 0, 4),
        (True, 2, 6),
        (False, 1, 7),
        (False, 2, 10),
    ]


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize(("p", "m"), [(2, 1), (4, 8), (5, 3), (8, 16)])
@pytest.mark.parametrize(("forward", "backward"), [(10_000_000, 20_000_000), (9_000_001, 9_000_001)])
def test_the_closed_loop_finds_exactly_that_bubble(p: int, m: int, forward: int, backward: int, name: str) -> None:
    shape = PipelineShape(p, m, forward, backward)
    made = pipeline(shape, 2, NAMED[name])
    schedule = replayed(made, name)
    makespan = int(schedule.makespan_ns[0])
    worked = 2 * m * (forward + backward)  # every slot, waiting for its message included
    assert Fraction(makespan - worked, makespan) == Fraction(p - 1, m + p - 1)
    computed = [sum(k.end_ns - k.start_ns for k in made.kernels if k.rank == r and k.event is None) for r in range(p)]
    assert schedule.busy_ns[0].tolist() == computed


def test_longer_messages_make_the_bubble_larger() -> None:
    made = pipeline(PipelineShape(), 1)
    found = {name: int(replayed(made, name).makespan_ns[0]) for name in NAMED}
    assert found["baseline"] == PipelineShape().step_ns
    assert found["congested"] > found["baseline"] > found["high_bandwidth"]


def test_events_are_as_many_as_asked_for() -> None:
    made = synthesis("pipeline", 7, 100, {"stages": 3, "microbatches": 4})
    assert len(made.trace) == 6 * 17
    check_trace(made.trace.events, made.trace.start_ns)


def test_messages_longer_than_their_slots_are_refused() -> None:
    with pytest.raises(UsageError, match="smaller messages"):
        pipeline(PipelineShape(forward_ns=100_000, backward_ns=100_000), 1)


def test_messages_share_their_ranks() -> None:
    """Two messages meet on rank 1 for 100 ns of work each; the third has its ranks to itself."""
    hops = [Hop((0, 1), 0), Hop((1, 2), 50), Hop((3, 4), 0)]
    # rank 1: 50 alone, then both at half: the first has 50 left and takes 100, the second 50 of its 100, then alone
    assert arrivals_ns(hops, 10, 100.0) == [160, 210, 110]


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 6), st.integers(1, 9), st.integers(5, 30), st.integers(5, 30))
def test_any_pipeline_is_as_long_as_its_slots(p: int, m: int, forward_ms: int, backward_ms: int) -> None:
    shape = PipelineShape(p, m, forward_ms * 1_000_000, backward_ms * 1_000_000)
    assert replayed(pipeline(shape, 1)).makespan_ns[0] == shape.step_ns
