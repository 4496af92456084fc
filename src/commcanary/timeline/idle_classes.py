"""Why a device did not compute: every moment without compute in exactly one class, with the evidence for it.

| class | evidence |
|---|---|
| fill, drain | a point-to-point message runs before a step's first compute, or behind its last |
| imbalance | a collective runs that a rank has not reached yet (arrivals of all ranks, on one clock) |
| dependency wait | a queued kernel starts when the collective completes that it waited for |
| host gap | nothing runs, and the next compute is launched only later (or, launched, starts within ``LAUNCH_NS``) |
| unclassified | nothing of this |

A moment that fits several belongs to the first of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from commcanary.timeline.covered import Covered
from commcanary.timeline.dependency_windows import Evidence
from commcanary.timeline.kernels import UNKNOWN, Kernels, Lane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from commcanary.timeline.dependency_windows import Windows

    Ints = NDArray[np.int64]

FILL, DRAIN, IMBALANCE = "fill", "drain", "imbalance"
DEPENDENCY, HOST, UNCLASSIFIED = "dependency wait", "host gap", "unclassified"
CLASSES = (FILL, DRAIN, IMBALANCE, DEPENDENCY, HOST, UNCLASSIFIED)

MESSAGES = frozenset({"point_to_point", "send", "recv"})
"""Operations between two ranks, as a pipeline's stages exchange them."""

LAUNCH_NS = 50_000
"""A launched kernel starts within this on an idle device."""


@dataclass(frozen=True)
class IdleInput:
    """One device in the window [start, end), ns. ``steps`` are the starts of its profiler steps in order.

    ``last_arrival`` (int64, one per communication kernel in the order of ``windows``) is when the last rank reached
    the collective, on this device's clock, -1 unknown.
    """

    kernels: Kernels
    windows: Windows
    kinds: Sequence[str]
    start: int
    end: int
    steps: Ints
    last_arrival: Ints


def idle_classes(given: IdleInput) -> dict[str, Covered]:
    """The moments of each class; together they are exactly the window without compute."""
    kernels = given.kernels
    computing = kernels.lane == Lane.COMPUTE
    compute = Covered(kernels.start[computing], kernels.end[computing]).clipped(given.start, given.end)
    whole = np.asarray([given.start], np.int64), np.asarray([given.end], np.int64)
    rest = Covered(*whole).minus(compute)
    fill, drain = _pipeline(given, compute)
    found = {}
    for name, claimed in (
        (FILL, fill),
        (DRAIN, drain),
        (IMBALANCE, _before_last_arrival(given)),
        (DEPENDENCY, _waits(given)),
        (HOST, _host(given, rest)),
    ):
        found[name] = rest.shared(claimed)
        rest = rest.minus(claimed)
    found[UNCLASSIFIED] = rest
    return found


def _pipeline(given: IdleInput, compute: Covered) -> tuple[Covered, Covered]:
    """Messages before the first and behind the last compute of each step."""
    kernels, windows = given.kernels, given.windows
    mine = windows.kernel
    message = np.asarray([given.kinds[kind] in MESSAGES if kind != UNKNOWN else False for kind in kernels.kind[mine]])
    message = message.astype(np.bool_)
    running = Covered(windows.start[message], windows.completion[message])
    edges = np.unique(np.concatenate([[given.start], given.steps, [given.end]]))
    edges = edges[(edges >= given.start) & (edges <= given.end)]
    low, high = edges[:-1], edges[1:]
    if not len(compute):
        return running, running.clipped(0, 0)
    first = np.searchsorted(compute.end, low, side="right")
    last = np.searchsorted(compute.start, high, side="left") - 1
    has = first <= last
    opens = np.where(has, np.maximum(low, compute.start[np.minimum(first, len(compute) - 1)]), low)
    closes = np.where(has, np.minimum(high, compute.end[np.maximum(last, 0)]), high)
    return running.shared(Covered(low, opens)), running.shared(Covered(closes, high))


def _before_last_arrival(given: IdleInput) -> Covered:
    windows = given.windows
    known = given.last_arrival != UNKNOWN
    return Covered(windows.start[known], np.minimum(given.last_arrival[known], windows.completion[known]))


def _waits(given: IdleInput) -> Covered:
    """From when each waiting consumer could have gone on until it did."""
    windows = given.windows
    waited = windows.evidence == Evidence.WAITED_FOR
    return Covered(windows.consumer_time[waited], given.kernels.start[windows.consumer[waited]])


def _host(given: IdleInput, idle: Covered) -> Covered:
    """The part of each idle stretch with nothing running before its next compute is launched, and the launch."""
    kernels = given.kernels
    computing = np.flatnonzero((kernels.lane == Lane.COMPUTE) & (kernels.end > kernels.start))
    other = kernels.lane != Lane.COMPUTE
    busy = Covered(kernels.start[other], kernels.end[other])
    if not len(computing) or not len(idle):
        return idle.clipped(0, 0)
    starts = kernels.start[computing]
    at = np.searchsorted(starts, idle.end, side="left")
    ends = (at < len(starts)) & (starts[np.minimum(at, len(starts) - 1)] == idle.end)
    launch = np.where(ends, kernels.launch[computing[np.minimum(at, len(starts) - 1)]], UNKNOWN)
    known = launch != UNKNOWN
    reach = np.where(idle.end - launch <= LAUNCH_NS, idle.end, np.minimum(launch, idle.end))
    late = known & (launch > idle.start)
    return Covered(idle.start[late], reach[late]).minus(busy)
