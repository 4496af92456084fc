"""Unions of intervals [start, end) of int64 ns, exact and vectorised.

An interval whose end is not after its start (zero length, negative duration) covers nothing. Touching
intervals become one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


class Covered:
    """The union of intervals, kept as its disjoint maximal stretches ``start``, ``end`` (int64[m], ascending)."""

    def __init__(self, start: Ints, end: Ints) -> None:
        keep = end > start
        if not keep.all():
            start, end = start[keep], end[keep]
        if len(start) and not (start[1:] >= start[:-1]).all():
            order = np.argsort(start, kind="stable")
            start, end = start[order], end[order]
        if len(start):
            reached = np.maximum.accumulate(end)
            opens = np.concatenate([[True], start[1:] > reached[:-1]])
            closes = np.concatenate([opens[1:], [True]])
            start, end = start[opens], reached[closes]
        self.start, self.end = start, end
        self._before = np.concatenate([np.zeros(1, np.int64), np.cumsum(end - start)])

    def __len__(self) -> int:
        return len(self.start)

    @property
    def total(self) -> int:
        """Length of the union in ns."""
        return int(self._before[-1])

    @property
    def lengths(self) -> Ints:
        """int64[m]: length of each stretch."""
        return self.end - self.start

    def until(self, time: Ints) -> Ints:
        """int64[n]: length of the union before each time."""
        if not len(self.start):
            return np.zeros(len(time), np.int64)
        at = np.searchsorted(self.start, time, side="right") - 1
        inside = np.maximum(at, 0)
        partial = np.minimum(time, self.end[inside]) - self.start[inside]
        return np.where(at < 0, 0, self._before[inside] + partial)

    def within(self, start: Ints, end: Ints) -> Ints:
        """int64[n]: length of the union inside each [start, end); 0 where end <= start."""
        inside: Ints = self.until(np.maximum(start, end)) - self.until(start)
        return inside

    def both(self, other: Covered) -> int:
        """Length in ns of what this union and ``other`` share."""
        few, many = (self, other) if len(self) < len(other) else (other, self)
        return int(many.within(few.start, few.end).sum())

    def clipped(self, start: int, end: int) -> Covered:
        """The part of the union inside [start, end)."""
        return Covered(np.maximum(self.start, start), np.minimum(self.end, end))

    def minus(self, other: Covered) -> Covered:
        """The part of the union that ``other`` does not cover."""
        if not len(self) or not len(other):
            return self
        low, high = min(self.start[0], other.start[0]), max(self.end[-1], other.end[-1])
        gap_start = np.concatenate([[low], other.end])
        gap_end = np.concatenate([other.start, [high]])
        return self.shared(Covered(gap_start, gap_end))

    def shared(self, other: Covered) -> Covered:
        """The union of what both cover."""
        if not len(self) or not len(other):
            return Covered(np.zeros(0, np.int64), np.zeros(0, np.int64))
        # a stretch of the intersection starts where a stretch of one starts inside the other, and ends likewise
        start = _distinct(np.concatenate([other._inside(self.start), self._inside(other.start)]))
        end = _distinct(np.concatenate([other._closing(self.end), self._closing(other.end)]))
        return Covered(start, end)

    def _inside(self, time: Ints) -> Ints:
        at = np.searchsorted(self.start, time, side="right") - 1
        return time[(at >= 0) & (time < self.end[np.maximum(at, 0)])]

    def _closing(self, time: Ints) -> Ints:
        at = np.searchsorted(self.start, time, side="left") - 1
        return time[(at >= 0) & (time <= self.end[np.maximum(at, 0)])]


def _distinct(time: Ints) -> Ints:
    """The distinct times in order; NumPy's own ``unique`` hashes them, which takes ten times as long."""
    time = np.sort(time, kind="stable")  # two runs that are in order already
    return time[np.concatenate([[True], time[1:] != time[:-1]])] if len(time) else time
