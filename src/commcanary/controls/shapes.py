"""Shape groups, and what tells their members apart: the columns that medoids and clusters look at.

A shape group is all events of one signature (operation, bytes, ranks, phase, ...), in program order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.events import UNKNOWN
from commcanary.units import us_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.artifacts.events import Events

FEATURES = ("gap_us", "skew_us", "compute_before_us", "compute_overlap_us", "compute_pressure")
"""The columns of ``features``, in order. Gaps are those of the ordered trace, never compute_before."""


def shape_groups(events: Events) -> list[NDArray[np.int64]]:
    """The event indices (ascending) of every shape group, groups in order of first appearance."""
    order = np.argsort(events.signature, kind="stable").astype(np.int64)
    cuts = np.flatnonzero(np.diff(events.signature[order])) + 1
    return sorted(np.split(order, cuts), key=lambda members: int(members[0])) if len(order) else []


def features(events: Events) -> NDArray[np.float64]:
    """float64[n, 5]: ``FEATURES`` of every event, times in us, NaN where unknown."""
    return np.column_stack(
        [
            us_array(events.gap_ns),
            _known_us(events.skew_ns),
            _known_us(events.compute_before_ns),
            _known_us(events.compute_overlap_ns),
            events.compute_pressure,
        ]
    )


def compared(members: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The columns of one group that can be compared, float64[m, columns <= 5], and max(1, column max) of each.

    A column that some member does not know is left out: an unknown time is at no distance from a known one.
    """
    known = members[:, ~np.isnan(members).any(axis=0)]
    return known, np.maximum(1.0, known.max(axis=0, initial=0.0))


def _known_us(ns: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.where(ns == UNKNOWN, np.nan, us_array(ns))
