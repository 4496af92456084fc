"""Phases without annotations, approximately: kernels whose names mark where a phase starts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from commcanary.timeline.covered import Covered
from commcanary.timeline.kernels import UNKNOWN, Lane
from commcanary.timeline.windows import compiled
from commcanary.units import NS_PER_US

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from commcanary.timeline.kernels import Kernels

    Ints = NDArray[np.int64]

STEP_GAP_US = 1000.0


@dataclass(frozen=True)
class PhaseAnchors:
    """``forward`` and ``backward`` are patterns of kernel names; a gap over ``step_gap_us`` starts a step.

    Raises ``UsageError`` for what is no pattern.
    """

    forward: str
    backward: str
    step_gap_us: float = STEP_GAP_US

    def __post_init__(self) -> None:
        for pattern in (self.forward, self.backward):
            compiled("--phase-anchor", pattern)


PHASES = ("forward", "backward")


def anchored(kernels: Kernels, names: Sequence[str], anchors: PhaseAnchors) -> Kernels:
    """``kernels`` with ``phase`` numbering ``PHASES``.

    A step starts where nothing computed or communicated for longer than the gap. In each step, forward
    starts at the first kernel that matches its anchor, backward at the first one after that which matches
    the other; before, and in steps without a match, the phase is unknown. ``kernels`` are in
    order of their starts.
    """
    forward, backward = (
        np.asarray([bool(compiled("--phase-anchor", text).search(name)) for name in names], np.bool_)
        for text in (anchors.forward, anchors.backward)
    )
    phase = np.full(len(kernels), UNKNOWN, np.int64)
    working = kernels.lane != Lane.MEMORY
    busy = Covered(kernels.start[working], kernels.end[working])
    if not len(busy):
        return replace(kernels, phase=phase)
    gap = busy.start[1:] - busy.end[:-1]
    steps = np.concatenate([busy.start[:1], busy.start[1:][gap > anchors.step_gap_us * NS_PER_US]])
    step = np.searchsorted(steps, kernels.start, side="right") - 1
    begins: list[Ints] = []
    for number, mark in enumerate((forward, backward)):
        matching = np.flatnonzero(mark[kernels.name] & (kernels.lane == Lane.COMPUTE))
        if number:
            matching = matching[kernels.start[matching] > begins[0][step[matching]]]
        first = np.full(len(steps), np.iinfo(np.int64).max, np.int64)
        np.minimum.at(first, step[matching], kernels.start[matching])
        begins.append(first)
        phase[kernels.start >= first[step]] = number
    return replace(kernels, phase=phase)
