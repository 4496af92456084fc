"""What a report keeps of its schedules: makespans, what each rank did, and what the critical path is made of.

A path has up to two segments an event and one more. A report keeps what they add up to, the longest ones, and the
digest of them all; whoever has the canary recomputes the path itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pyarrow as pa

from commcanary.artifacts.content import table_digest
from commcanary.replay.metrics import quantile
from commcanary.units import r3, us_array, us_from_ns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.replay.schedule import Schedule

COMPUTE, COMMUNICATION = "compute", "communication"

LONGEST_SEGMENTS = 10
"""Segments of a path that a report lists one by one."""


class PathPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All segments of the path in which ``rank`` does ``what`` (compute or communication)."""

    rank: int
    what: str
    segments: int
    total_us: float
    longest_us: float


class PathSegment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One segment of the path, from ``start_us`` of its run on."""

    rank: int
    what: str
    start_us: float
    length_us: float


class CriticalPath(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``parts`` add up to the makespan, largest first; ``longest`` are the longest of all ``segments``.

    ``digest`` is the table digest of the whole path, columns ``rank``, ``communication``, ``ns``, from time 0 on.
    """

    segments: int
    parts: tuple[PathPart, ...]
    longest: tuple[PathSegment, ...]
    digest: str


class RunSchedule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One run. Per rank, in the order of ``ScheduleSummary.ranks``: busy + exposed + idle = makespan, us."""

    makespan_us: float
    busy_us: tuple[float, ...]
    exposed_us: tuple[float, ...]
    idle_us: tuple[float, ...]
    critical_path: CriticalPath


class ScheduleSummary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The schedules of a report's runs, seed-major, then iteration. Every time is a whole number of ns."""

    ranks: tuple[int, ...]
    runs: tuple[RunSchedule, ...]

    @property
    def makespans_us(self) -> NDArray[np.float64]:
        """float64[runs]."""
        return np.array([run.makespan_us for run in self.runs], np.float64)

    @property
    def makespan_us(self) -> float:
        """The median over the runs: what comparisons and verifications are about."""
        return r3(quantile(self.makespans_us, 50))

    def contradiction(self) -> tuple[str, float, float] | None:
        """Place, expected and stated value (us) of the first number that the others contradict, or None."""
        for number, run in enumerate(self.runs):
            place = f"schedule.runs[{number}]"
            parts = r3(sum(part.total_us for part in run.critical_path.parts))
            if parts != run.makespan_us:
                return f"{place}.makespan_us", parts, run.makespan_us
            for rank, *times in zip(self.ranks, run.busy_us, run.exposed_us, run.idle_us, strict=False):
                if r3(sum(times)) != run.makespan_us:
                    return f"{place} (rank {rank}: busy + exposed + idle)", run.makespan_us, r3(sum(times))
        return None


def summary_of_schedule(schedule: Schedule) -> ScheduleSummary:
    """The summary of the schedules of one replay."""
    runs = range(len(schedule.makespan_ns))
    return ScheduleSummary(
        ranks=tuple(schedule.ranks.tolist()),
        runs=tuple(
            RunSchedule(
                makespan_us=us_from_ns(schedule.makespan_ns[run]),
                busy_us=tuple(us_array(schedule.busy_ns[run]).tolist()),
                exposed_us=tuple(us_array(schedule.exposed_ns[run]).tolist()),
                idle_us=tuple(us_array(schedule.idle_ns[run]).tolist()),
                critical_path=_path(schedule, run),
            )
            for run in runs
        ),
    )


def makespan_us(schedule: Schedule | None) -> float | None:
    """The median makespan over the runs; None of a model that has no schedule."""
    return None if schedule is None else r3(quantile(us_array(schedule.makespan_ns), 50))


def _path(schedule: Schedule, run: int) -> CriticalPath:
    owned = slice(schedule.path_bounds[run], schedule.path_bounds[run + 1])
    rank, communication = schedule.path_rank[owned], schedule.path_communication[owned]
    ns = schedule.path_ns[owned]
    columns = {"rank": pa.array(rank), "communication": pa.array(communication), "ns": pa.array(ns)}
    start = np.cumsum(ns) - ns
    longest = np.argsort(-ns, kind="stable")[:LONGEST_SEGMENTS]
    return CriticalPath(
        segments=len(ns),
        parts=_parts(rank, communication, ns),
        longest=tuple(
            PathSegment(int(rank[i]), _what(communication[i]), us_from_ns(start[i]), us_from_ns(ns[i])) for i in longest
        ),
        digest=table_digest(pa.table(columns)),
    )


def _parts(rank: NDArray[np.int64], communication: NDArray[np.bool_], ns: NDArray[np.int64]) -> tuple[PathPart, ...]:
    keys, code = np.unique(rank * 2 + communication, return_inverse=True)
    total, longest = np.zeros(len(keys), np.int64), np.zeros(len(keys), np.int64)
    np.add.at(total, code, ns)
    np.maximum.at(longest, code, ns)
    segments = np.bincount(code, minlength=len(keys))
    return tuple(
        PathPart(int(keys[i]) // 2, _what(keys[i] % 2), int(segments[i]), us_from_ns(total[i]), us_from_ns(longest[i]))
        for i in np.argsort(-total, kind="stable")
    )


def _what(communication: np.bool_ | np.int64) -> str:
    return COMMUNICATION if communication else COMPUTE
