"""What ran on one device, as columns: the kernels of a measured timeline."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

UNKNOWN = -1
"""In numbers of tables and in times of launch: not known."""


class Lane(IntEnum):
    """What an interval does to its device. Copies and memsets are neither compute nor communication."""

    COMPUTE = 0
    COMMUNICATION = 1
    MEMORY = 2


@dataclass(frozen=True)
class Kernels:
    """Intervals [start, end) of one device in order of their starts, all columns int64[n].

    Times are ns of the profile's own clock. ``lane`` is a ``Lane``. ``name``, ``rule``, ``kind``, ``group``,
    ``site`` and ``phase`` are numbers in the tables of the ``RankTimeline`` (-1: unknown, or does not apply):
    ``rule`` says which rule of the classification claimed the kernel, ``kind`` is the operation of a
    communication kernel, ``group`` its process group, ``site`` where in the program it was launched.
    ``call`` is the index of its communication call. ``launch`` is when the host launched it, ``step`` the
    index of the profiler step that launched it.
    """

    start: Ints
    end: Ints
    lane: Ints
    name: Ints
    stream: Ints
    rule: Ints
    kind: Ints
    group: Ints
    site: Ints
    phase: Ints
    call: Ints
    launch: Ints
    step: Ints

    def __len__(self) -> int:
        return len(self.start)

    @property
    def durations(self) -> Ints:
        """int64[n]: length of each interval in ns."""
        return self.end - self.start

    def where(self, chosen: NDArray[np.bool_] | Ints) -> Kernels:
        """The kernels that ``chosen`` (a mask, or indices in order) picks."""
        return Kernels(**{field.name: getattr(self, field.name)[chosen] for field in fields(self)})

    def on(self, lane: Lane) -> Kernels:
        """The kernels of one lane."""
        return self.where(self.lane == lane)
