"""What the general kernel needs beside the program: each rank's own steps, and what it waits for later."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray


class InFlightLayout(NamedTuple):
    """Rank r steps through ``step_event[step_bounds[r]:step_bounds[r + 1]]`` with the compute ``step_before``.

    ``wait_event`` holds, in the same way, the events that r does not consume at once, by consumer, then by event:
    the order in which it comes to wait for them. ``next_on_stream`` is the next event of the same stream or -1;
    stream s owns the nodes ``node_bounds[s]`` to ``node_bounds[s + 1]``, one for each member of its largest event.
    """

    step_bounds: NDArray[np.int64]
    step_event: NDArray[np.int32]
    step_before: NDArray[np.int64]
    wait_bounds: NDArray[np.int64]
    wait_event: NDArray[np.int32]
    first_on_stream: NDArray[np.int32]
    next_on_stream: NDArray[np.int32]
    node_bounds: NDArray[np.int64]


def in_flight_layout(
    signature: NDArray[np.int32],
    stream: NDArray[np.int32],
    streams: int,
    ranks: int,
    member_bounds: NDArray[np.int64],
    members: NDArray[np.int32],
    before_ns: NDArray[np.int64],
    consumer: NDArray[np.int64],
) -> InFlightLayout:
    """The layout of a program; the arguments are columns of ``ClosedLoopProgram``."""
    everything = np.arange(len(signature), dtype=np.int64)
    step_bounds, step_event, step_before = _by_rank(everything, signature, ranks, member_bounds, members, before_ns)
    later = np.flatnonzero(consumer >= 0)
    later = later[np.argsort(consumer[later], kind="stable")]
    none = np.zeros(0, np.int64)
    wait_bounds, wait_event, _ = _by_rank(later, signature, ranks, member_bounds, members, none)
    first, following, size = _streams(signature, stream, streams, member_bounds)
    node_bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(size)])
    return InFlightLayout(step_bounds, step_event, step_before, wait_bounds, wait_event, first, following, node_bounds)


@njit(cache=True)
def _by_rank(
    chosen: NDArray[np.int64],
    signature: NDArray[np.int32],
    ranks: int,
    member_bounds: NDArray[np.int64],
    members: NDArray[np.int32],
    before_ns: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Bounds per rank, and the chosen events of each rank in their order, with compute before (if given)."""
    bounds = np.zeros(ranks + 1, np.int64)
    for i in chosen:
        for j in range(member_bounds[signature[i]], member_bounds[signature[i] + 1]):
            bounds[members[j] + 1] += 1
    for rank in range(ranks):
        bounds[rank + 1] += bounds[rank]
    filled = bounds[:-1].copy()
    event = np.empty(bounds[ranks], np.int32)
    before = np.empty(bounds[ranks] if len(before_ns) else 0, np.int64)
    at = 0
    for i in chosen:
        for j in range(member_bounds[signature[i]], member_bounds[signature[i] + 1]):
            to = filled[members[j]]
            filled[members[j]] = to + 1
            event[to] = i
            if len(before_ns):
                before[to] = before_ns[at]
                at += 1
    return bounds, event, before


@njit(cache=True)
def _streams(
    signature: NDArray[np.int32], stream: NDArray[np.int32], streams: int, member_bounds: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """First event per stream, next event per event, and the largest number of members per stream."""
    first = np.full(streams, -1, np.int32)
    latest = np.full(streams, -1, np.int32)
    following = np.full(len(signature), -1, np.int32)
    size = np.zeros(streams, np.int64)
    for i in range(len(signature)):
        here = stream[i]
        if latest[here] < 0:
            first[here] = i
        else:
            following[latest[here]] = i
        latest[here] = i
        size[here] = max(size[here], member_bounds[signature[i] + 1] - member_bounds[signature[i]])
    return first, following, size
