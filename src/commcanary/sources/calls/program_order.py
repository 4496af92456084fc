"""The order of events whose source knows no times: each rank says only in which order it called."""

from __future__ import annotations

import heapq
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.events import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from commcanary.sources.calls.matching import Matched
    from commcanary.sources.calls.rank_calls import RankCalls

    Ints = NDArray[np.int64]


def untimed(ranks: Sequence[RankCalls]) -> bool:
    """Whether some call does not say when it was issued."""
    return any(bool((calls.issue == UNKNOWN).any()) for calls in ranks)


def numbered(ranks: Sequence[RankCalls], groups: Sequence[Matched]) -> tuple[list[RankCalls], int]:
    """The ranks with each call's ``issue`` replaced by its event's place in one order of all events.

    The order keeps that of every rank where that is possible; where several events could come next, the
    one that the first listed rank reaches first. Ranks may contradict each other, for nothing orders the
    calls of two groups against each other: then the first listed rank's order stands. The second result
    counts the events that some rank called in another order.
    """
    events = [np.full(len(calls), UNKNOWN, np.int64) for calls in ranks]
    before = 0
    for group in groups:
        for position, chosen in zip(group.present, group.calls, strict=True):
            events[position][chosen] = np.arange(before, before + len(group))
        before += len(group)
    place = _places([own.tolist() for own in events], before)
    behind = sum(int((np.maximum.accumulate(place[own])[:-1] > place[own][1:]).sum()) for own in events if len(own))
    return [replace(calls, issue=place[own]) for calls, own in zip(ranks, events, strict=True)], behind


def _places(sequences: list[list[int]], count: int) -> Ints:
    """int64[count]: the place of each event in an order that follows all sequences as far as they agree."""
    waits = np.zeros(count, np.int64)
    first: list[tuple[int, int]] = [(len(sequences), 0)] * count
    following: list[list[int]] = [[] for _ in range(count)]
    for number, sequence in enumerate(sequences):
        for at, event in enumerate(sequence):
            first[event] = min(first[event], (number, at))
            if at:
                following[sequence[at - 1]].append(event)
                waits[event] += 1
    by_first = sorted(range(count), key=first.__getitem__)
    ready = [(first[event], event) for event in by_first if not waits[event]]
    heapq.heapify(ready)
    place = np.full(count, UNKNOWN, np.int64)
    at, next_stuck = 0, 0
    while at < count:
        if not ready:  # the sequences contradict each other here
            while place[by_first[next_stuck]] != UNKNOWN:
                next_stuck += 1
            ready.append((first[by_first[next_stuck]], by_first[next_stuck]))
        _, event = heapq.heappop(ready)
        if place[event] != UNKNOWN:
            continue
        place[event] = at
        at += 1
        for later in following[event]:
            waits[later] -= 1
            if not waits[later] and place[later] == UNKNOWN:
                heapq.heappush(ready, (first[later], later))
    return place
