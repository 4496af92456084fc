"""Control ``isolated``: what a collective benchmark measures. One event per shape, alone on the machine.

No order, no arrival skew, no overlap; the source's total gap is spread evenly, so that nothing queues
behind a neighbour that it never had.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.events import UNKNOWN, Events, Ragged
from commcanary.controls.medoid import medoid
from commcanary.controls.shapes import compared, features, shape_groups

if TYPE_CHECKING:
    from numpy.typing import NDArray


def select(events: Events) -> NDArray[np.int64]:
    """int64[shapes]: the medoid of every shape group, shapes in order of first appearance."""
    table = features(events)
    groups = shape_groups(events)
    return np.array([members[medoid(*compared(table[members]))] for members in groups], dtype=np.int64)


def stripped(events: Events) -> Events:
    """The same operations without gaps, skew, overlap, consumers and observations."""
    count = len(events)
    sizes = np.array([events.group_of(s).size for s in events.signatures], np.int64)[events.signature]
    bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    return replace(
        events,
        gap_ns=np.zeros(count, np.int64),
        offsets_ns=Ragged(np.zeros(int(bounds[-1]), np.int64), bounds, np.ones(count, np.bool_)),
        rank_compute_before_ns=Ragged.unknown(count),
        compute_overlap_ns=np.zeros(count, np.int64),
        observed_exposed_ns=np.full(count, UNKNOWN, np.int64),
        consumer=np.full(count, UNKNOWN, np.int64),
    )
