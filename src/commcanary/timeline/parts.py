"""The four exclusive parts of a span: compute only, communication only, both, neither."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from commcanary.timeline.covered import Covered
from commcanary.timeline.kernels import Lane

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.timeline.kernels import Kernels
    from commcanary.timeline.windows import Window

    Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Parts:
    """Lengths in ns; the four sum to the span exactly. ``copies`` is the part of neither in which copies ran."""

    compute_only: int
    communication_only: int
    both: int
    neither: int
    copies: int

    @property
    def communication(self) -> int:
        """Length of the union of communication."""
        return self.both + self.communication_only

    @property
    def compute(self) -> int:
        """Length of the union of compute."""
        return self.both + self.compute_only

    @property
    def span(self) -> int:
        """All four together."""
        return self.compute_only + self.communication_only + self.both + self.neither


class Unions:
    """The union of each lane of a window's kernels."""

    def __init__(self, kernels: Kernels) -> None:
        self.compute, self.communication, self.memory = (_union(kernels, lane) for lane in Lane)

    def parts(self, window: Window) -> Parts:
        """The four parts of ``window``, which must contain the kernels."""
        both = self.communication.both(self.compute)
        busy = Covered(*_joined(self.compute, self.communication))
        return Parts(
            compute_only=self.compute.total - both,
            communication_only=self.communication.total - both,
            both=both,
            neither=window.span - busy.total,
            copies=self.memory.total - self.memory.both(busy),
        )

    def exposed(self) -> Covered:
        """Communication without compute: the exposed segments."""
        return self.communication.minus(self.compute)


def _union(kernels: Kernels, lane: Lane) -> Covered:
    mine = kernels.lane == lane
    return Covered(kernels.start[mine], kernels.end[mine])


def _joined(one: Covered, other: Covered) -> tuple[Ints, Ints]:
    return np.concatenate([one.start, other.start]), np.concatenate([one.end, other.end])
