"""Who launched a device's work: the host's runtime calls, found by correlation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from commcanary.sources.kineto.rank_profile import NO_ID

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.sources.kineto.spans import Spans

    Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Launched:
    """``known`` (bool[n]) says which correlations have a launch; ``thread`` and ``time`` are those that do."""

    known: NDArray[np.bool_]
    thread: Ints
    time: Ints


class Launches:
    """Launches whose code is the correlation; where one repeats, the last one counts."""

    def __init__(self, launches: Spans) -> None:
        correlation = launches.column("code")[::-1]
        self._correlation, last = np.unique(correlation, return_index=True)
        self._thread = launches.column("thread")[::-1][last]
        self._time = launches.column("start")[::-1][last]

    def of(self, correlation: Ints) -> Launched:
        """Thread and start (ns) of the launch of each of ``correlation`` (int64[n])."""
        if not len(self._correlation):
            none = np.zeros(0, np.int64)
            return Launched(np.zeros(len(correlation), np.bool_), none, none)
        at = np.minimum(np.searchsorted(self._correlation, correlation), len(self._correlation) - 1)
        known = (self._correlation[at] == correlation) & (correlation != NO_ID)
        return Launched(known, self._thread[at[known]], self._time[at[known]])
