"""Whose definition of communication, compute and of the measured kernels a number follows.

``exact`` is ours: the classification table, every kernel, nanoseconds. ``hta`` is Holistic Trace
Analysis's: lanes by the kernel's name alone, kernels that the last profiler step launched dropped, starts
and ends rounded inwards to whole microseconds. Its last two habits are settings of their own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from commcanary.timeline.kernels import UNKNOWN, Kernels, Lane
from commcanary.units import NS_PER_US

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commcanary.timeline.rank_timeline import RankTimeline

ConventionName = Literal["exact", "hta"]
LastStep = Literal["keep", "drop"]
Rounding = Literal["ns", "us"]

_HTA_COMMUNICATION = re.compile(r"^nccl.*Kernel")
_HTA_NO_COMPUTE = re.compile(r"^nccl.*Kernel|.*Memcpy|^Memset|^dma|.*Sync")


@dataclass(frozen=True)
class Convention:
    """``last_step`` and ``rounding`` of None are the convention's own: keep and ns, or drop and us for hta."""

    name: ConventionName = "exact"
    last_step: LastStep | None = None
    rounding: Rounding | None = None

    def settled(self) -> Convention:
        """This convention with its own habits filled in."""
        own: tuple[LastStep, Rounding] = ("drop", "us") if self.name == "hta" else ("keep", "ns")
        return Convention(self.name, self.last_step or own[0], self.rounding or own[1])

    def applied(self, timeline: RankTimeline, step_names: Sequence[str]) -> list[Kernels]:
        """The kernels of each device as the convention sees them.

        ``step_names`` are the profiler steps of all profiles: with one step alone nothing is dropped, and
        kernels without a known launch are dropped only where steps decide, as in Holistic Trace Analysis.
        """
        own = self.settled()
        several = len(set(step_names)) > 1 and len(timeline.steps) > 0
        found = []
        for device in timeline.devices:
            kernels = device.kernels
            if self.name == "hta":
                kernels = replace(kernels, lane=_hta_lanes(timeline)[kernels.name])
            if several and own.last_step == "drop":
                kernels = kernels.where(
                    (kernels.launch != UNKNOWN) & (kernels.launch < int(timeline.steps.start.max()))
                )
            elif several and self.name == "hta":
                kernels = kernels.where((kernels.launch != UNKNOWN) & (kernels.launch <= int(timeline.steps.end.max())))
            found.append(_rounded_inwards(kernels) if own.rounding == "us" else kernels)
        return found


def _hta_lanes(timeline: RankTimeline) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """int64[names]: the lane of each kernel name."""

    def lane(name: str) -> Lane:
        if _HTA_COMMUNICATION.match(name):
            return Lane.COMMUNICATION
        return Lane.MEMORY if _HTA_NO_COMPUTE.match(name) else Lane.COMPUTE

    return np.asarray([lane(name) for name in timeline.names], np.int64)


def _rounded_inwards(kernels: Kernels) -> Kernels:
    """Starts up and ends down to whole microseconds; what is shorter than that covers nothing then."""
    start = -(-kernels.start // NS_PER_US) * NS_PER_US
    return replace(kernels, start=start, end=np.maximum(start, kernels.end // NS_PER_US * NS_PER_US))
