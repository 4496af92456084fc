"""The grid that closed-loop time stands on: every point in time is a whole nanosecond.

Issues, starts, completions and the ends of compute are rounded when they are computed, from remaining work and
whole points in time. So a schedule is the same wherever on the clock it begins - a repeated window takes exactly as
long each time - and last-bit differences between machines vanish.
"""

from __future__ import annotations

JUST_ABOVE_HALF = 0.5 + 1e-6
"""Added before rounding down. Stretched work is often half a nanosecond but for a last bit; that goes up."""


def whole_ns(ns: float) -> int:
    """``ns`` (0 or more) to the nearest whole nanosecond, halves up, and near-halves with them."""
    return int(ns + JUST_ABOVE_HALF)
