"""Declared values in place of unknown ones: named by the user, recorded where they were used."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.events import UNKNOWN, Events, Ragged
from commcanary.errors import UsageError
from commcanary.units import MAX_TIME_US, ns_from_us

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

ASSUMABLE = ("arrival_skew_us", "compute_before_us", "compute_overlap_us", "gap_us")
"""Fields that ``--assume FIELD=VALUE`` may name; values in us."""


def assumed(events: Events, assumptions: Mapping[str, float]) -> tuple[Events, dict[str, float]]:
    """The events with unknown values replaced as declared, and the assumptions that replaced any.

    An assumed arrival skew is the exchange format's: every rank at 0, the last one at the skew. Known
    values are never touched. Raises ``UsageError`` for a field that cannot be assumed or a value outside
    0 ... 1e12 us.
    """
    used: dict[str, float] = {}
    for field, value in sorted(assumptions.items()):
        if field not in ASSUMABLE:
            raise UsageError(f"--assume {field}: not a field that can be assumed; known are {', '.join(ASSUMABLE)}")
        if not (math.isfinite(value) and 0 <= value <= MAX_TIME_US):
            raise UsageError(f"--assume {field}={value}: give 0 to {MAX_TIME_US:.0f} us")
        filled = _filled(events, field, ns_from_us(value))
        if filled is not None:
            events = filled
            used[field] = float(value)
    return events, used


def _filled(events: Events, field: str, value_ns: int) -> Events | None:
    """The events with the field's unknown values replaced, or None where none is unknown."""
    if field == "arrival_skew_us":
        return None if events.offsets_ns.known.all() else replace(events, offsets_ns=_arrivals(events, value_ns))
    if field == "gap_us":
        return None if events.gaps_known else replace(events, gap_ns=_equal_gaps(events, value_ns), gaps_known=True)
    before = field == "compute_before_us"
    column = events.compute_before_ns if before else events.compute_overlap_ns
    if (column != UNKNOWN).all():
        return None
    known = np.where(column == UNKNOWN, value_ns, column)
    return replace(events, compute_before_ns=known) if before else replace(events, compute_overlap_ns=known)


def _equal_gaps(events: Events, value_ns: int) -> NDArray[np.int64]:
    gaps = np.full(len(events), value_ns, np.int64)
    gaps[:1] = 0  # nothing comes before the first event
    return gaps


def _arrivals(events: Events, skew_ns: int) -> Ragged:
    sizes = np.array([events.group_of(s).size for s in events.signatures], np.int64)[events.signature]
    given = events.offsets_ns
    bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    values = np.zeros(int(bounds[-1]), np.int64)
    last = bounds[1:] - 1
    values[last[~given.known & (sizes > 1)]] = skew_ns
    values[np.repeat(given.known, sizes)] = given.values
    return Ragged(values, bounds, np.ones(len(sizes), np.bool_))
