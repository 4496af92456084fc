"""One profile as a timeline: its devices, its communication calls, its steps and ranges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from commcanary.artifacts.events import ProcessGroup, Signature
    from commcanary.timeline.kernels import Kernels

    Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Ranges:
    """Named ranges [start, end) on the host in order of their starts: profiler steps, user annotations."""

    name: tuple[str, ...]
    start: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.name)


@dataclass(frozen=True)
class Calls:
    """The communication calls of one rank in order of issue; columns are int64[n].

    ``signature`` numbers ``signatures`` (operation, bytes, dtype; its ``group`` indexes ``groups``), ``site``
    and ``phase`` the tables of the ``RankTimeline``, -1 unknown. ``issue`` is when the host issued the call,
    ``step`` the index of the profiler step it was issued in, -1 for none. ``event`` is its place in the file.
    """

    groups: tuple[ProcessGroup, ...]
    signatures: tuple[Signature, ...]
    signature: Ints
    issue: Ints
    site: Ints
    phase: Ints
    step: Ints
    event: Ints

    def __len__(self) -> int:
        return len(self.signature)


@dataclass(frozen=True)
class DeviceTimeline:
    """One device of a profile: ``device`` is its number as the profiler wrote it."""

    device: str
    kernels: Kernels


@dataclass(frozen=True)
class RankTimeline:
    """What one profile shows. ``name`` is the file's; ``rank`` and ``world`` are None where it does not say.

    ``lanes`` says what the intervals are: kernels of devices, or - for jobs on CPUs - operators and the
    backend's annotations on the host. ``base_ns`` makes times absolute. ``session_start`` and
    ``session_end`` are the first start and the last end of all that was recorded.
    ``calls`` is None where calls cannot be read; ``no_calls`` then says why. ``refused_calls`` counts calls
    that could not be read for certain. The tables hold the words behind the numbers in ``Kernels``.
    """

    name: str
    rank: int | None
    world: int | None
    lanes: Literal["device", "host"]
    base_ns: int | None
    session_start: int
    session_end: int
    devices: tuple[DeviceTimeline, ...]
    steps: Ranges
    ranges: Ranges
    calls: Calls | None
    no_calls: str
    refused_calls: int
    names: tuple[str, ...]
    rules: tuple[str, ...]
    kinds: tuple[str, ...]
    groups: tuple[str, ...]
    sites: tuple[str, ...]
    phases: tuple[str, ...]
