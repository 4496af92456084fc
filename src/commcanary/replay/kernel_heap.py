"""Compiled binary heap of actors by the time of their next change, with times that may be moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numba import njit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@njit(inline="always")
def settle(
    heap: NDArray[np.int32],
    place: NDArray[np.int32],
    due_ns: NDArray[np.int64],
    count: int,
    hole: int,
    actor: int,
) -> None:
    """Put ``actor`` into the hole at position ``hole`` of ``heap[:count]``, and then where its time belongs."""
    at = hole
    time = due_ns[actor]
    while at > 0:
        parent = (at - 1) >> 1
        other = heap[parent]
        if due_ns[other] <= time:
            break
        heap[at] = other
        place[other] = at
        at = parent
    while True:
        child = 2 * at + 1
        if child >= count:
            break
        if child + 1 < count and due_ns[heap[child + 1]] < due_ns[heap[child]]:
            child += 1
        other = heap[child]
        if due_ns[other] >= time:
            break
        heap[at] = other
        place[other] = at
        at = child
    heap[at] = actor
    place[actor] = at
