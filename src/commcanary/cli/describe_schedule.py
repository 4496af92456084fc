"""The schedule of a report in a screenful: makespan, what the ranks did, where the critical path goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.replay.schedule_summary import COMMUNICATION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commcanary.replay.schedule_summary import RunSchedule, ScheduleSummary

LARGEST_PARTS = 8
LONGEST_SEGMENTS = 3
SHOWN_RANKS = 8


def schedule_lines(schedule: ScheduleSummary) -> Iterator[str]:
    """The makespan over all runs, then ranks and critical path of the first one."""
    runs = schedule.makespans_us
    over = "" if len(runs) == 1 else f", median of {len(runs)} runs from {runs.min():.3f} to {runs.max():.3f}"
    yield f"makespan {schedule.makespan_us:.3f} us{over}"
    run = schedule.runs[0]
    if run.makespan_us == 0:
        return
    yield from _ranks(schedule, run)
    yield from _path(run, "" if len(runs) == 1 else " of the first run")


def _ranks(schedule: ScheduleSummary, run: RunSchedule) -> Iterator[str]:
    """One line a rank, those that wait most first where there are many."""
    waiting = sorted(range(len(schedule.ranks)), key=lambda i: -(run.exposed_us[i] + run.idle_us[i]))
    shown = sorted(waiting[:SHOWN_RANKS])
    for i in shown:
        busy, exposed, idle = (100 * us[i] / run.makespan_us for us in (run.busy_us, run.exposed_us, run.idle_us))
        yield f"rank {schedule.ranks[i]}: busy {busy:.2f} %, exposed {exposed:.2f} %, idle {idle:.2f} %"
    if len(waiting) > len(shown):
        yield f"and {len(waiting) - len(shown)} more ranks, which wait less"


def _path(run: RunSchedule, which: str) -> Iterator[str]:
    path = run.critical_path
    communication = sum(part.total_us for part in path.parts if part.what == COMMUNICATION)
    yield (
        f"critical path{which}: {path.segments} segments, {100 * communication / run.makespan_us:.2f} % communication;"
        " its largest parts"
    )
    for part in path.parts[:LARGEST_PARTS]:
        yield (
            f"  rank {part.rank} {part.what}: {part.total_us:.3f} us ({100 * part.total_us / run.makespan_us:.2f} %) "
            f"in {part.segments} segments, the longest {part.longest_us:.3f} us"
        )
    if len(path.parts) > LARGEST_PARTS:
        yield f"  and {len(path.parts) - LARGEST_PARTS} smaller parts"
    for segment in path.longest[:LONGEST_SEGMENTS]:
        when = f"{segment.length_us:.3f} us from {segment.start_us:.3f} us on"
        yield f"  longest: rank {segment.rank} {segment.what}, {when}"
