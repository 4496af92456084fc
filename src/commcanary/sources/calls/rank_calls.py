"""The taken calls of one rank as columns: what every source of per-rank calls hands to matching and merging."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from commcanary.artifacts.events import UNKNOWN

if TYPE_CHECKING:
    from collections import Counter

    from numpy.typing import NDArray

    from commcanary.artifacts.events import ProcessGroup, Signature
    from commcanary.artifacts.trace import Coverage
    from commcanary.sources.calls.call import Fate
    from commcanary.sources.calls.job import Job

    Ints = NDArray[np.int64]


class Places(NamedTuple):
    """Where in its files a source says what; refusals name these places."""

    calls: str = "traceEvents"
    rank: str = "distributedInfo.rank"
    world: str = "distributedInfo.world_size"
    backend: str = "distributedInfo.backend"
    groups: str = "distributedInfo.pg_config"


PROFILE_PLACES = Places()


@dataclass(frozen=True, kw_only=True)
class RankCalls:
    """The taken calls of one rank in order of issue. Times are ns of the rank's own clock, -1 unknown.

    ``key`` numbers the distinct (group, signature) pairs of ``keys``. ``issue`` is the call on the host;
    ``kernel_start`` the first start of its communication kernels; ``end`` the last end of its kernels, or
    of the annotation paired with it. ``event`` is the call's place in the list ``places.calls`` of its file.
    ``site`` numbers the places in the program (``sites``) that made the calls, -1 unknown; None where the source
    knows none.
    """

    job: Job
    name: str
    keys: tuple[tuple[ProcessGroup, Signature], ...]
    key: Ints
    receives: NDArray[np.bool_]
    phase: NDArray[np.int64]
    phases: tuple[str, ...]
    issue: Ints
    kernel_start: Ints
    end: Ints
    compute_before: Ints
    overlap: Ints
    exposed: Ints
    sequence: Ints
    event: Ints
    coverage: tuple[Coverage, ...]
    fates: Counter[Fate]
    places: Places = PROFILE_PLACES
    site: Ints | None = None
    sites: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.key)

    @property
    def on_device(self) -> bool:
        """Whether every call is linked to a communication kernel."""
        return bool(len(self)) and bool((self.kernel_start != UNKNOWN).all())
