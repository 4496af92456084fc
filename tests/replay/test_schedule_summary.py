"""What a report keeps of a schedule: an example by hand, and sums that close."""

from __future__ import annotations

import msgspec
import numpy as np
import pyarrow as pa
from hypothesis import given, settings

from commcanary.artifacts.content import table_digest
from commcanary.artifacts.events import Events, ProcessGroup
from commcanary.replay.configuration import NAMED
from commcanary.replay.model import model_named
from commcanary.replay.schedule import Schedule
from commcanary.replay.schedule_summary import (
    LONGEST_SEGMENTS,
    PathPart,
    PathSegment,
    ScheduleSummary,
    makespan_us,
    summary_of_schedule,
)

from .programs import closed_loop_programs, events_of, kind

MODEL = model_named("closed-loop-v1")


def summarised(events: Events, *ablations: str, iterations: int = 1) -> tuple[Schedule, ScheduleSummary]:
    samples = MODEL.run(MODEL.prepare(events, ablations), NAMED["baseline"], (7,), iterations)
    return samples.schedule, summary_of_schedule(samples.schedule)


def test_two_ranks_by_hand() -> None:
    """Rank 1 computes 30 us, rank 0 10 us; the all_reduce takes 12.65 + 8 us; then a tail of 5 us on rank 0 alone."""
    groups = (ProcessGroup("tp", 2), ProcessGroup.of("alone", (0,)))
    rows = [
        {"signature": kind("all_reduce", 55_000), "rank_compute_before_ns": [10_000, 30_000], "compute_pressure": 0.0},
        {"signature": kind("broadcast", 1, 1), "compute_before_ns": 5_000, "compute_pressure": 0.0},
    ]
    _, found = summarised(events_of(rows, groups), "noise")
    (run,) = found.runs
    assert found.ranks == (0, 1)
    assert found.makespan_us == run.makespan_us == 30 + 12.65 + 8 + 5 + 12.65
    assert run.busy_us == (15.0, 30.0)
    assert run.exposed_us == (20 + 12.65 + 8 + 12.65, 20.65)
    assert run.idle_us == (0.0, 17.65)
    path = run.critical_path
    assert path.segments == 4
    assert path.parts == (
        PathPart(0, "communication", 2, 33.3, 20.65),
        PathPart(1, "compute", 1, 30.0, 30.0),
        PathPart(0, "compute", 1, 5.0, 5.0),
    )
    assert path.longest[:2] == (PathSegment(1, "compute", 0.0, 30.0), PathSegment(0, "communication", 30.0, 20.65))


@settings(max_examples=50, deadline=None)
@given(closed_loop_programs())
def test_everything_adds_up_to_the_makespan(events: Events) -> None:
    schedule, found = summarised(events, iterations=2)
    assert found.contradiction() is None
    for number, run in enumerate(found.runs):
        path = schedule.critical_path(number)
        assert round(sum(part.total_us for part in run.critical_path.parts), 3) == run.makespan_us
        assert run.critical_path.segments == len(path) == sum(part.segments for part in run.critical_path.parts)
        assert len(run.critical_path.longest) == min(LONGEST_SEGMENTS, len(path))
        lengths = sorted((segment.ns for segment in path), reverse=True)[:LONGEST_SEGMENTS]
        assert [round(segment.length_us * 1000) for segment in run.critical_path.longest] == lengths
        columns = {
            "rank": pa.array([segment.rank for segment in path], pa.int64()),
            "communication": pa.array([segment.communication for segment in path], pa.bool_()),
            "ns": pa.array([segment.ns for segment in path], pa.int64()),
        }
        assert run.critical_path.digest == table_digest(pa.table(columns))
    assert makespan_us(schedule) == found.makespan_us == round(float(np.median(found.makespans_us)), 3)


def test_a_number_that_the_others_contradict_is_named() -> None:
    rows = [{"signature": kind("all_reduce", 8), "compute_before_ns": 1_000}]
    _, found = summarised(events_of(rows, (ProcessGroup("tp", 2),)))
    (run,) = found.runs
    longer = msgspec.structs.replace(found, runs=(msgspec.structs.replace(run, makespan_us=run.makespan_us + 1),))
    assert longer.contradiction() == ("schedule.runs[0].makespan_us", run.makespan_us, run.makespan_us + 1)
    busier = msgspec.structs.replace(found, runs=(msgspec.structs.replace(run, busy_us=(1.0, 2.0)),))
    place, expected, stated = busier.contradiction() or ("", 0.0, 0.0)
    assert "rank 1" in place
    assert (expected, stated) == (run.makespan_us, round(run.makespan_us + 1, 3))


def test_a_model_without_schedules_has_no_makespan() -> None:
    assert makespan_us(None) is None
