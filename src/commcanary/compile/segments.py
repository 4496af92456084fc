"""Fewer timing records than events: each stands for a stretch of equal operations.

Within a group (adjacent events of one compile key) the events are cut into at most ``limit`` stretches
such that the largest half-range over all time fields is as small as possible. A stretch of range R is
held by its box centre with error ceil(R / 2). For a given R the greedy longest stretches are fewest, and
a stretch stays within R when it is shortened, so a binary search over whole nanoseconds finds the optimum
exactly. Pressure counts in thousandths (0.001 weighs like 1 ns).

Gaps keep the trace's total exact: every stretch may hold any constant within the error already reached,
and takes the one that brings the running total back to the source's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numba
import numpy as np

from commcanary.artifacts.events import UNKNOWN, Events, Ragged
from commcanary.compile.records import Records, consumer_distance

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

PRESSURE_SCALE = 1000


def segmented(events: Events, limit: int, own_limits: Mapping[int, int] | None = None) -> Records:
    """At most ``limit`` records per group of adjacent events with one compile key.

    ``own_limits`` gives the groups of some signatures (by number) another limit.
    """
    limits = np.full(len(events.signatures), limit)
    for number, own in (own_limits or {}).items():
        limits[number] = own
    fields = _fields(events)
    group_starts = np.flatnonzero(_group_begins(events))
    group_ends = np.append(group_starts[1:], len(events))
    starts = _cut_all(fields, group_starts, group_ends, limits[events.signature[group_starts]])
    ends = np.append(starts[1:], len(events))
    count = ends - starts
    error = _reached_error(fields, starts)
    totals = _exact_totals(events.gap_ns, starts, count, error)
    return Records(_centres(events, starts, ends), count, totals, consumer_distance(events)[starts])


def longest_group(events: Events) -> int:
    """Events of the longest group: with as many records per group nothing is lost."""
    return int(np.diff(np.append(np.flatnonzero(_group_begins(events)), len(events))).max())


def _group_begins(events: Events) -> NDArray[np.bool_]:
    """True where a group starts. What no record can average (unknowns, flags, links) also starts one."""
    changed = np.zeros(len(events), np.bool_)
    changed[0] = True
    for column in (
        events.signature,
        events.message_sequence,
        events.compute_uncertain,
        events.offsets_ns.known,
        events.rank_compute_before_ns.known,
        events.compute_before_ns == UNKNOWN,
        events.compute_overlap_ns == UNKNOWN,
        consumer_distance(events),
    ):
        changed[1:] |= column[1:] != column[:-1]
    return changed


def _fields(events: Events) -> NDArray[np.int64]:
    """int64[n, fields]: every bounded time of an event in ns; unused rank columns are 0."""
    widest = int(events.offsets_ns.lengths.max(initial=0))
    before = int(events.rank_compute_before_ns.lengths.max(initial=0))
    table = np.zeros((len(events), 5 + widest + before), np.int64)
    table[:, 0] = events.gap_ns
    table[:, 1] = events.compute_before_ns
    table[:, 2] = events.compute_overlap_ns
    table[:, 3] = events.observed_exposed_ns
    table[:, 4] = np.rint(events.compute_pressure * PRESSURE_SCALE).astype(np.int64)
    for ragged, first in ((events.offsets_ns, 5), (events.rank_compute_before_ns, 5 + widest)):
        row = np.repeat(np.arange(len(events)), ragged.lengths)
        column = np.arange(len(ragged.values)) - np.repeat(ragged.bounds[:-1], ragged.lengths)
        table[row, first + column] = ragged.values
    return table


def _cut_all(
    fields: NDArray[np.int64],
    group_starts: NDArray[np.int64],
    group_ends: NDArray[np.int64],
    limits: NDArray[np.int64],
) -> NDArray[np.int64]:
    parts = [
        _cut_group(fields, start, end, limit) if end - start > limit else np.arange(start, end)
        for start, end, limit in zip(group_starts.tolist(), group_ends.tolist(), limits.tolist(), strict=True)
    ]
    return np.concatenate(parts)


def _cut_group(fields: NDArray[np.int64], start: int, end: int, limit: int) -> NDArray[np.int64]:
    low, high = 0, int((fields[start:end].max(axis=0) - fields[start:end].min(axis=0)).max())
    while low < high:
        middle = (low + high) // 2
        if len(_greedy(fields, start, end, middle)) <= limit:
            high = middle
        else:
            low = middle + 1
    return np.asarray(_greedy(fields, start, end, low), dtype=np.int64)


@numba.njit(cache=True)
def _greedy(fields: NDArray[np.int64], start: int, end: int, span: int) -> NDArray[np.int64]:
    """Starts of the longest stretches whose fields all range over at most ``span``."""
    width = fields.shape[1]
    low = fields[start].copy()
    high = fields[start].copy()
    starts = np.empty(end - start, np.int64)
    starts[0] = start
    found = 1
    for row in range(start + 1, end):
        fits = True
        for column in range(width):
            value = fields[row, column]
            if max(high[column], value) - min(low[column], value) > span:
                fits = False
                break
        if fits:
            for column in range(width):
                low[column] = min(low[column], fields[row, column])
                high[column] = max(high[column], fields[row, column])
        else:
            starts[found] = row
            found += 1
            low[:] = fields[row]
            high[:] = fields[row]
    return starts[:found]


def _reached_error(fields: NDArray[np.int64], starts: NDArray[np.int64]) -> int:
    span = np.maximum.reduceat(fields, starts) - np.minimum.reduceat(fields, starts)
    return int((span.max() + 1) // 2)


def _exact_totals(
    gap_ns: NDArray[np.int64], starts: NDArray[np.int64], count: NDArray[np.int64], error: int
) -> NDArray[np.int64]:
    """int64[records]: gap totals that add up to the source's, each event within the least possible error.

    That is ``error`` unless no choice within it adds up; then the smallest larger one that does.
    """
    low = np.minimum.reduceat(gap_ns, starts)
    high = np.maximum.reduceat(gap_ns, starts)
    exact = np.add.reduceat(gap_ns, starts)
    target = int(exact.sum())

    def reach(allowed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return np.maximum(high - allowed, 0) * count, (low + allowed) * count

    smallest, largest = error, max(error, int((high - low).max()))
    while smallest < largest:
        middle = (smallest + largest) // 2
        least, most = reach(middle)
        if least.sum() <= target <= most.sum():
            largest = middle
        else:
            smallest = middle + 1
    least, most = reach(smallest)
    return _tracked(exact, least, most)


@numba.njit(cache=True)
def _tracked(exact: NDArray[np.int64], least: NDArray[np.int64], most: NDArray[np.int64]) -> NDArray[np.int64]:
    """Totals within [least, most] whose running sum returns to that of ``exact`` as soon as it can."""
    count = len(exact)
    least_after = np.zeros(count + 1, np.int64)
    most_after = np.zeros(count + 1, np.int64)
    exact_after = np.zeros(count + 1, np.int64)
    for i in range(count - 1, -1, -1):
        least_after[i] = least_after[i + 1] + least[i]
        most_after[i] = most_after[i + 1] + most[i]
        exact_after[i] = exact_after[i + 1] + exact[i]
    totals = np.empty(count, np.int64)
    behind = np.int64(0)  # source minus canary so far
    for i in range(count):
        left = exact_after[i + 1]
        lowest = max(least[i], exact[i] + behind - (most_after[i + 1] - left))
        highest = min(most[i], exact[i] + behind - (least_after[i + 1] - left))
        totals[i] = min(max(exact[i] + behind, lowest), highest)
        behind += exact[i] - totals[i]
    return totals


def _centres(events: Events, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Events:
    """One event per stretch: the first one's identity, every time the centre of its stretch."""
    first = events.take(starts)
    middle = (
        np.maximum.reduceat(events.compute_pressure, starts) + np.minimum.reduceat(events.compute_pressure, starts)
    ) / 2
    single = ends - starts == 1
    return replace(
        first,
        offsets_ns=_centre_lists(events.offsets_ns, starts, ends),
        compute_before_ns=_centre(events.compute_before_ns, starts),
        rank_compute_before_ns=_centre_lists(events.rank_compute_before_ns, starts, ends),
        compute_overlap_ns=_centre(events.compute_overlap_ns, starts),
        compute_pressure=np.where(single, first.compute_pressure, middle),
        observed_exposed_ns=_centre(events.observed_exposed_ns, starts),
    )


def _centre(column: NDArray[np.int64], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    return (np.maximum.reduceat(column, starts) + np.minimum.reduceat(column, starts)) // 2


def _centre_lists(ragged: Ragged, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Ragged:
    """Centre of each rank's column within each stretch; offsets still begin at 0 afterwards."""
    lists: list[list[int] | None] = []
    lengths = ragged.lengths
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        if not ragged.known[start]:
            lists.append(None)
            continue
        block = ragged.values[ragged.bounds[start] : ragged.bounds[end]].reshape(end - start, int(lengths[start]))
        lists.append(((block.max(axis=0) + block.min(axis=0)) // 2).tolist())
    return Ragged.of(lists)
