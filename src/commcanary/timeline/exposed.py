"""Exposed segments: every stretch with communication and no compute, who is behind it, how they are spread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.timeline.covered import Covered
    from commcanary.timeline.owners import Owned

    Ints = NDArray[np.int64]

BANDS_NS = (10_000, 100_000, 1_000_000, 10_000_000)
"""Upper ends (exclusive) of the bands of durations but for the last, which is open."""


@dataclass(frozen=True)
class Pieces:
    """Exposed segments cut where their owner changes: ``segment`` and ``kernel`` of each piece, its ``length``."""

    segment: Ints
    kernel: Ints
    length: Ints


def pieces_of(exposed: Covered, communication: Owned) -> Pieces:
    """The exposed segments shared out to the communication kernels that own them."""
    if not len(exposed):
        none = np.zeros(0, np.int64)
        return Pieces(none, none, none)
    at = np.searchsorted(exposed.start, communication.start, side="right") - 1
    changes = communication.start[(at >= 0) & (communication.start < exposed.end[np.maximum(at, 0)])]
    start = np.unique(np.concatenate([exposed.start, changes]))
    segment = np.searchsorted(exposed.start, start, side="right") - 1
    end = np.minimum(np.append(start[1:], exposed.end[-1]), exposed.end[segment])
    owner = np.searchsorted(communication.start, start, side="right") - 1
    return Pieces(segment, communication.kernel[owner], end - start)


def band_of(lengths: Ints) -> Ints:
    """int64[n]: number of the band that each duration falls into."""
    return np.searchsorted(np.asarray(BANDS_NS, np.int64), lengths, side="right").astype(np.int64)
