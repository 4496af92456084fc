"""Which rank arrives last, and by how much: collectives matched across ranks on one clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from commcanary.timeline.kernels import UNKNOWN
from commcanary.timeline.overlap import Lateness, LateRanks
from commcanary.units import r3

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Meeting:
    """The collectives of one process group. ``arrival`` is int64[ranks, n] ns on a clock common to ``ranks``.

    ``kind`` and ``site`` are those of each collective (int64[n]), as numbers in ``kinds`` and ``sites``.
    ``call`` (int64[ranks, n]) is its number among the calls of each rank, ``shift`` (int64[ranks]) what was
    added to the rank's own clock.
    """

    group: str
    ranks: tuple[int, ...]
    arrival: Ints
    kind: Ints
    kinds: tuple[str, ...]
    site: Ints
    sites: tuple[str, ...]
    call: Ints
    shift: Ints


@dataclass(frozen=True)
class Meetings:
    """All groups' collectives, or why ranks cannot be compared. ``clock`` and ``arrival`` are for the reader."""

    meetings: tuple[Meeting, ...] = ()
    clock: str = ""
    error_bound_us: float | None = None
    arrival: str = ""
    unknown: str = ""


def last_arrivals(found: Meetings, rank: int | None, calls: int) -> Ints | None:
    """int64[calls]: when the last profiled rank reached each call of ``rank``, ns on its own clock, -1 unknown.

    None where ranks cannot be compared. Where profiles are missing the last of all may have come later still.
    """
    if found.unknown or rank is None:
        return None
    result = np.full(calls, UNKNOWN, np.int64)
    for meeting in found.meetings:
        if rank in meeting.ranks:
            member = meeting.ranks.index(rank)
            result[meeting.call[member]] = meeting.arrival.max(axis=0) - meeting.shift[member]
    return result


def late_ranks(found: Meetings) -> LateRanks | None:
    """Rows per kind, site, group and rank; None where ranks cannot be compared. A tie has no last rank."""
    if found.unknown:
        return None
    rows = [row for meeting in found.meetings for row in _rows(meeting)]
    rows.sort(key=lambda row: (row.kind, row.site, row.group, -row.last, row.rank))
    return LateRanks(clock=found.clock, error_bound_us=found.error_bound_us, arrival=found.arrival, rows=tuple(rows))


def _rows(meeting: Meeting) -> Sequence[Lateness]:
    after = meeting.arrival - meeting.arrival.min(axis=0)
    latest = after.max(axis=0)
    alone = (after == latest).sum(axis=0) == 1
    rows = []
    for kind, site in np.unique(np.stack([meeting.kind, meeting.site], axis=1), axis=0).tolist():
        mine = (meeting.kind == kind) & (meeting.site == site)
        for member, rank in enumerate(meeting.ranks):
            last = int((mine & alone & (after[member] == latest)).sum())
            rows.append(
                Lateness(
                    kind=meeting.kinds[kind],
                    site=meeting.sites[site],
                    group=meeting.group,
                    rank=rank,
                    calls=int(mine.sum()),
                    last=last,
                    last_pct=r3(100 * last / int(mine.sum())),
                    median_ns=float(np.median(after[member][mine])),
                )
            )
    return rows
