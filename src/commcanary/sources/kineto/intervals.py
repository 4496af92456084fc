"""Spans of threads: the outermost ones, and the one around a point in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.sources.kineto.spans import Spans

    Ints = NDArray[np.int64]


def outermost(spans: Spans) -> NDArray[np.bool_]:
    """bool[n]: the spans that lie in no earlier-starting span of their thread."""
    start, end, thread = spans.column("start"), spans.column("end"), spans.column("thread")
    result = np.ones(len(start), np.bool_)
    for number in np.flatnonzero(np.bincount(thread)):
        mine = np.flatnonzero(thread == number)
        order = mine[np.lexsort((-end[mine], start[mine]))]
        reached = np.maximum.accumulate(end[order])
        result[order[1:]] = end[order[1:]] > reached[:-1]
    return result


class Disjoint:
    """Spans of which no two of one thread overlap, searchable by (thread, time)."""

    def __init__(self, spans: Spans, chosen: NDArray[np.bool_]) -> None:
        self._chosen = np.flatnonzero(chosen)
        thread = spans.column("thread")[self._chosen]
        self._start, self._end = spans.column("start"), spans.column("end")
        self._by_thread: dict[int, Ints] = {}
        for number in np.flatnonzero(np.bincount(thread)):
            mine = self._chosen[thread == number]
            self._by_thread[int(number)] = mine[np.argsort(self._start[mine], kind="stable")]

    def containing(self, thread: Ints, time: Ints) -> Ints:
        """int64[n]: index of the span that holds each point, -1 where none does."""
        result = np.full(len(time), -1, np.int64)
        for number, order in self._by_thread.items():
            mine = np.flatnonzero(thread == number)
            at = np.searchsorted(self._start[order], time[mine], side="right") - 1
            inside = (at >= 0) & (time[mine] <= self._end[order[np.maximum(at, 0)]])
            result[mine[inside]] = order[at[inside]]
        return result
