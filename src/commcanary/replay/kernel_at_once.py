"""Compiled closed loop where every event is consumed at once: one pass, exact.

A rank that waits for each event before it goes on has at most one collective in flight. So no transfer shares, and
the completion follows from the issues by a formula, interference included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from commcanary.replay.kernel_durations import whole_ns

if TYPE_CHECKING:
    from numpy.typing import NDArray


NEVER = 2**62
NOBODY = np.int32(2**31 - 1)


@njit(cache=True, error_model="numpy")
def _completion(transfer_begins: int, compute_ends: int, work_ns: float, b: float) -> int:
    """When a transfer ends that runs at 1 / (1 + b) until ``compute_ends`` and at 1 after it."""
    if work_ns <= 0.0:
        return transfer_begins
    if b == 0.0 or compute_ends <= transfer_begins:
        return transfer_begins + whole_ns(work_ns)
    slowed = transfer_begins + whole_ns(work_ns * (1.0 + b))
    if slowed <= compute_ends:
        return slowed
    return compute_ends + whole_ns(max(0.0, work_ns - (compute_ends - transfer_begins) / (1.0 + b)))


@njit(cache=True, error_model="numpy")
def _compute_end(issue: int, overlap: int, start: int, completion: int, a: float) -> int:
    """When overlapped compute ends that runs at 1 / (1 + a) from ``start`` to ``completion`` and at 1 around it."""
    remaining = issue + overlap - start
    if a == 0.0 or remaining <= 0:
        return issue + overlap
    slowed = start + whole_ns(remaining * (1.0 + a))
    if slowed <= completion:
        return slowed
    return completion + whole_ns(max(0.0, remaining - (completion - start) / (1.0 + a)))


@njit(cache=True, error_model="numpy")
def run_at_once(
    a: float,
    b: float,
    signature: NDArray[np.int32],
    stream: NDArray[np.int32],
    overlap_ns: NDArray[np.int64],
    before_ns: NDArray[np.int64],
    member_bounds: NDArray[np.int64],
    members: NDArray[np.int32],
    latency_ns: NDArray[np.int64],
    work_ns: NDArray[np.float64],
    samples: NDArray[np.float64],
    start_ns: NDArray[np.int64],
    completion_ns: NDArray[np.int64],
    bound_rank: NDArray[np.int32],
    cause: NDArray[np.int32],
    free_ns: NDArray[np.int64],
    busy_ns: NDArray[np.int64],
    exposed_ns: NDArray[np.int64],
    rank_cause: NDArray[np.int32],
    stream_free: NDArray[np.int64],
    stream_last: NDArray[np.int32],
) -> None:
    """One run from time 0. Per event: ``samples`` (5 rows, us), start, completion, and what bound the start:

    ``bound_rank`` the rank that issued last (-1: the stream) and ``cause`` the event that it had waited for last
    (or the stream's event before; -1: none). Per rank: when it is free, compute and waits (ns), the last event
    that it waited for. ``before_ns`` has one entry per event and member, event after event; ``member_bounds``
    is per signature. All per-rank and per-stream columns start at 0, the causes at -1.
    """
    issue = np.empty(len(free_ns), np.int64)
    at = 0
    for i in range(len(signature)):
        first, last = member_bounds[signature[i]], member_bounds[signature[i] + 1]
        earliest, latest, issues = NEVER, -1, 0
        for j in range(first, last):
            moment = free_ns[members[j]] + before_ns[at]
            at += 1
            issue[j - first] = moment
            issues += moment
            earliest = min(earliest, moment)
            latest = max(latest, moment)
        bound = NOBODY
        for j in range(first, last):  # a branch here would be mispredicted for most events
            bound = min(bound, members[j] if issue[j - first] == latest else NOBODY)
        here = stream[i]
        start = max(latest, stream_free[here])
        if start == latest:
            bound_rank[i] = bound
            cause[i] = rank_cause[bound]
        else:
            bound_rank[i] = -1
            cause[i] = stream_last[here]
        overlap = overlap_ns[i]
        transfer_begins = start + latency_ns[i]
        compute_ends = _compute_end(latest, overlap, start, NEVER, a)
        completion = _completion(transfer_begins, compute_ends, work_ns[i], b)
        stream_free[here] = completion
        stream_last[here] = i
        start_ns[i] = start
        completion_ns[i] = completion
        earliest_wait = NEVER
        for j in range(first, last):
            rank = members[j]
            wait = _compute_end(issue[j - first], overlap, start, completion, a)
            busy_ns[rank] += wait - free_ns[rank]
            earliest_wait = min(earliest_wait, wait)
            exposed_ns[rank] += max(0, completion - wait)
            rank_cause[rank] = i if completion > wait else rank_cause[rank]
            free_ns[rank] = max(completion, wait)
        size = last - first
        samples[0, i] = max(0, completion - earliest_wait) / 1000.0
        samples[1, i] = (completion - earliest) / 1000.0
        samples[2, i] = (start - latest) / 1000.0
        samples[3, i] = (latest - earliest) / 1000.0
        samples[4, i] = whole_ns(latest - earliest - (issues - size * earliest) / size) / 1000.0
