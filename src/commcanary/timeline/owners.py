"""Time shared out to kernels, so that sums over kinds, phases and sites neither lose nor double a nanosecond.

Where several kernels of a lane run at once, the time belongs to the one that started first (ties: the one
that comes first in the file). Each kernel then owns at most one stretch, and the stretches make up the
lane's union.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.timeline.covered import Covered
    from commcanary.timeline.kernels import Kernels

    Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Owned:
    """Disjoint stretches [start, end) in ascending order, all int64[m]; ``kernel`` is the owner of each.

    ``alone`` is the part of each stretch that the other lane does not cover.
    """

    start: Ints
    end: Ints
    kernel: Ints
    alone: Ints

    @property
    def lengths(self) -> Ints:
        """int64[m]: length of each stretch in ns."""
        return self.end - self.start


def owned(kernels: Kernels, other: Covered) -> Owned:
    """The stretches that the kernels of one lane own; ``other`` is the union of the other lane.

    ``kernels`` are in order of their starts.
    """
    reached = np.maximum.accumulate(kernels.end)
    start = kernels.start.copy()
    start[1:] = np.maximum(start[1:], reached[:-1])
    mine = np.flatnonzero(kernels.end > start)
    start, end = start[mine], kernels.end[mine]
    return Owned(start, end, mine, (end - start) - other.within(start, end))


def summed(keys: Ints, values: Ints, count: int) -> list[int]:
    """Exact sums of ``values`` per key 0 ... count - 1."""
    totals = np.zeros(count, np.int64)
    np.add.at(totals, keys, values)
    found: list[int] = totals.tolist()
    return found
