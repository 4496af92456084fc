"""Which later event needs the result of an event that others were issued after."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.events import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from commcanary.sources.capture.matching import Matched
    from commcanary.sources.capture.shard import Shard

    Ints = NDArray[np.int64]


def consumers(shards: Sequence[Shard], groups: Sequence[Matched], events_of: Sequence[Ints]) -> Ints:
    """int64[n]: the consumer of each event, -1 where its result is needed at once.

    ``events_of[g]`` are the trace positions of the events of ``groups[g]``. On one rank the consumer is the
    first call issued after the wait, where another call was issued between issue and wait. An event has one
    where all its ranks do: the first of theirs. Without a call after the wait there is none to name.
    """
    count = sum(len(events) for events in events_of)
    result = np.full(count, np.iinfo(np.int64).max, np.int64)
    at_once = np.zeros(count, np.bool_)
    for shard in shards:
        event = np.full(len(shard), UNKNOWN, np.int64)
        for group, events in zip(groups, events_of, strict=True):
            if shard.rank in group.group.members:
                event[group.calls[group.group.members.index(shard.rank)]] = events
        following = np.searchsorted(shard.issue, shard.wait, side="left")
        following = np.maximum(following, np.arange(len(shard)) + 1)
        waits_later = (shard.wait != UNKNOWN) & (following > np.arange(len(shard)) + 1) & (following < len(shard))
        named = np.where(waits_later, event[np.minimum(following, len(shard) - 1)], UNKNOWN)
        at_once[event] |= named <= event
        np.minimum.at(result, event, np.where(named > event, named, np.iinfo(np.int64).max))
    return np.where(at_once, UNKNOWN, result)
