"""What a closed-loop run says beside its samples: makespan, what each rank did, and the critical path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Segment(NamedTuple):
    """A stretch of the critical path: ``rank`` computes, or waits for communication, for ``ns``."""

    rank: int
    communication: bool
    ns: int


@dataclass(frozen=True, slots=True)
class Schedule:
    """Per run (seed-major, then iteration) whole nanoseconds; R ranks, ascending, in ``ranks``.

    ``makespan_ns``  int64[runs]: the latest completion or end of compute
    ``busy_ns``      int64[runs, R]: computing, stretched by interference
    ``exposed_ns``   int64[runs, R]: standing still for communication; a wait shared by collectives counts once
    ``idle_ns``      int64[runs, R]: the rest of the makespan
    ``path_*``       the critical path's segments from time 0 on; run i owns ``path_bounds[i]`` to
                     ``path_bounds[i + 1]``, and their ``path_ns`` sum to its makespan
    """

    ranks: NDArray[np.int64]
    makespan_ns: NDArray[np.int64]
    busy_ns: NDArray[np.int64]
    exposed_ns: NDArray[np.int64]
    idle_ns: NDArray[np.int64]
    path_bounds: NDArray[np.int64]
    path_rank: NDArray[np.int64]
    path_communication: NDArray[np.bool_]
    path_ns: NDArray[np.int64]

    def critical_path(self, run: int) -> list[Segment]:
        """The segments of one run; a communication segment names the rank that waited, or, where only the next
        collective on the stream did, the collective's smallest rank. Ties go to the smallest rank.
        """
        owned = slice(self.path_bounds[run], self.path_bounds[run + 1])
        columns = (self.path_rank[owned], self.path_communication[owned], self.path_ns[owned])
        return [Segment(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]
