"""Compiled walk back along the critical path of one closed-loop run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray


@njit(cache=True)
def walk_back(
    last_rank: int,
    makespan_ns: int,
    rank_cause: NDArray[np.int32],
    start_ns: NDArray[np.int64],
    completion_ns: NDArray[np.int64],
    bound_rank: NDArray[np.int32],
    cause: NDArray[np.int32],
    smallest: NDArray[np.int32],
    signature: NDArray[np.int32],
    path_rank: NDArray[np.int32],
    path_communication: NDArray[np.bool_],
    path_ns: NDArray[np.int64],
) -> int:
    """Write the path's segments, last first, and return their number; the path arrays have 2n + 1 entries.

    From the end: ``last_rank`` has computed since the event that it waited for last; that event ran since its last
    issue, by a rank that had computed since ...; or since the stream's event before it ended. ``smallest`` is
    the smallest rank per signature.
    """
    count = 0
    rank, until, event = last_rank, makespan_ns, rank_cause[last_rank]
    while True:
        since = completion_ns[event] if event >= 0 else 0
        if until > since:
            path_rank[count], path_communication[count], path_ns[count] = rank, False, until - since
            count += 1
        if event < 0:
            return count
        if completion_ns[event] > start_ns[event]:
            path_rank[count], path_communication[count] = rank, True
            path_ns[count] = completion_ns[event] - start_ns[event]
            count += 1
        until = start_ns[event]
        following = cause[event]
        rank = bound_rank[event] if bound_rank[event] >= 0 else smallest[signature[following]]
        event = following
