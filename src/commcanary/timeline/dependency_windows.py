"""When each collective of a device could start, when it completed, and when its consumer could have gone on.

A profile states no dependencies. What it gives are launch times and the order of streams:

- *readiness* r: the collective's stream waits for the compute that was launched before it. r is the later of its
  own launch and the latest end of such compute that was over when it started;
- *completion* c: its kernel's end;
- *consumer*: compute that started before c needed nothing of it, so the consumer is, at the earliest, the first
  kernel in launch order behind the collective from which on nothing started before c;
- *counterfactual consumer time* u: when that kernel could have started without the collective: the later of its
  launch and the end of the work before it on its own stream, collectives apart.

Where u >= c the collective held nobody up. Where u < c and the consumer started within ``RESUME_NS`` of c, it was
waiting, and the direct exposure is c - u. Where it started later, something else held it: unknown. Launch times
are taken as they are: a host that itself waited for the collective launches the consumer late, and hides it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from commcanary.timeline.kernels import UNKNOWN, Kernels, Lane

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

RESUME_NS = 20_000
"""A kernel that waited starts at most this much after what it waited for (a stream's wait takes 1 to 15 us)."""


class Evidence(IntEnum):
    """What the timeline shows of a collective's consumer."""

    NO_LAUNCH = 0
    NO_CONSUMER = 1
    NOT_WAITED_FOR = 2
    WAITED_FOR = 3
    HELD_OTHERWISE = 4


@dataclass(frozen=True)
class Windows:
    """Columns int64[n], one per communication kernel of a device in order of starts; times in ns, -1 unknown.

    ``kernel`` indexes the device's kernels, so does ``consumer``. ``ready`` is r, ``consumer_time`` u.
    ``exposure`` is max(0, c - u) as far as no other collective of the same consumer accounts for it: the
    exposures of one consumer add up to its whole wait. -1 where it is unknown. ``evidence`` is an ``Evidence``.
    """

    kernel: Ints
    ready: Ints
    start: Ints
    completion: Ints
    consumer: Ints
    consumer_time: Ints
    exposure: Ints
    evidence: Ints

    def __len__(self) -> int:
        return len(self.kernel)


def dependency_windows(kernels: Kernels) -> Windows:
    """The windows of every communication kernel of a device."""
    mine = np.flatnonzero(kernels.lane == Lane.COMMUNICATION)
    start, completion, launch = kernels.start[mine], kernels.end[mine], kernels.launch[mine]
    compute = np.flatnonzero((kernels.lane == Lane.COMPUTE) & (kernels.launch != UNKNOWN))
    order = compute[np.argsort(kernels.launch[compute], kind="stable")]
    evidence = np.full(len(mine), Evidence.NO_LAUNCH, np.int64)
    ready, consumer, time, exposure = (np.full(len(mine), UNKNOWN, np.int64) for _ in range(4))
    known = launch != UNKNOWN
    if len(order) and known.any():
        ready[known] = _ready(kernels, order, launch[known], start[known])
        found = _consumers(kernels, order, launch[known], completion[known])
        consumer[known] = found
        has = np.flatnonzero(known)[found != UNKNOWN]
        time[has] = _could_start(kernels)[consumer[has]]
        late = kernels.start[consumer[has]] > completion[has] + RESUME_NS
        evidence[known] = Evidence.NO_CONSUMER
        evidence[has] = np.where(
            time[has] >= completion[has],
            Evidence.NOT_WAITED_FOR,
            np.where(late, Evidence.HELD_OTHERWISE, Evidence.WAITED_FOR),
        )
        held = evidence == Evidence.HELD_OTHERWISE  # by a later collective of the same consumer: one wait of both
        together = np.isin(consumer, consumer[evidence == Evidence.WAITED_FOR])
        evidence[held & together] = Evidence.WAITED_FOR
        exposure[evidence == Evidence.NOT_WAITED_FOR] = 0
        waited = np.flatnonzero(evidence == Evidence.WAITED_FOR)
        exposure[waited] = _once(consumer[waited], completion[waited], time[waited])
    elif known.any():
        evidence[known] = Evidence.NO_CONSUMER
    return Windows(mine, ready, start, completion, consumer, time, exposure, evidence)


def _ready(kernels: Kernels, order: Ints, launch: Ints, start: Ints) -> Ints:
    """int64[n]: the later of each launch and the latest end of compute launched before it and over at its start.

    ``order`` is the compute in order of launch; on one stream that is the order of ends as well.
    """
    result = launch.copy()
    for stream in np.unique(kernels.stream[order]):
        mine = order[kernels.stream[order] == stream]
        ends = np.maximum.accumulate(kernels.end[mine])
        before = np.searchsorted(kernels.launch[mine], launch, side="left")
        over = np.searchsorted(ends, start, side="right")
        last = np.minimum(before, over) - 1
        result = np.where(last >= 0, np.maximum(result, ends[np.maximum(last, 0)]), result)
    return np.minimum(result, start)


def _consumers(kernels: Kernels, order: Ints, launch: Ints, completion: Ints) -> Ints:
    """int64[n]: the first kernel in launch order behind each collective from which on none started before c."""
    later = np.minimum.accumulate(kernels.start[order][::-1])[::-1]
    first = np.searchsorted(later, completion, side="left")
    at = np.maximum(first, np.searchsorted(kernels.launch[order], launch, side="right"))
    return np.where(at < len(order), order[np.minimum(at, len(order) - 1)], UNKNOWN)


def _could_start(kernels: Kernels) -> Ints:
    """int64[n]: the later of each kernel's launch and the end of the work before it on its stream.

    Collectives on that stream are left out: it is the time without them that is asked for.
    """
    before = np.full(len(kernels), UNKNOWN, np.int64)
    work = np.flatnonzero(kernels.lane != Lane.COMMUNICATION)
    order = work[np.lexsort((kernels.start[work], kernels.stream[work]))]
    same = np.flatnonzero(kernels.stream[order][1:] == kernels.stream[order][:-1])
    before[order[same + 1]] = kernels.end[order[same]]
    return np.minimum(np.maximum(before, kernels.launch), kernels.start)


def _once(consumer: Ints, completion: Ints, time: Ints) -> Ints:
    """int64[n]: what each collective adds to its consumer's wait behind those that completed before it."""
    result = np.zeros(len(consumer), np.int64)
    reached: dict[int, int] = {}
    for i in np.argsort(completion, kind="stable").tolist():
        before = reached.get(int(consumer[i]), int(time[i]))
        result[i] = max(0, int(completion[i]) - before)
        reached[int(consumer[i])] = max(before, int(completion[i]))
    return result
