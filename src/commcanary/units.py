"""Nanoseconds, microseconds, bytes and percent: converted and printed in one way.

Inside the package times are int64 nanoseconds. People and JSON exchange files read microseconds
with three decimals, that is, ``ns / 1000`` with one division.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

NS_PER_US = 1000
MAX_TIME_US = 1e12
"""Largest time that a trace may state, in microseconds (about eleven and a half days)."""


def ns_from_us(us: float) -> int:
    """Nearest whole nanosecond to ``us`` microseconds, half to even."""
    return round(us * NS_PER_US)


def us_from_ns(ns: int | np.int64) -> float:
    """Microseconds (float64, one division) of ``ns`` nanoseconds."""
    return int(ns) / NS_PER_US


def us_array(ns: NDArray[np.int64]) -> NDArray[np.float64]:
    """Microseconds (float64, same shape) of an int64 nanosecond array."""
    return np.asarray(ns / np.float64(NS_PER_US), dtype=np.float64)


def r2(value: float) -> float:
    """``value`` rounded to two decimals, never minus zero."""
    return round(float(value), 2) + 0.0


def r3(value: float) -> float:
    """``value`` rounded to three decimals, never minus zero."""
    return round(float(value), 3) + 0.0


def r9(value: float) -> float:
    """``value`` rounded to nine decimals, never minus zero."""
    return round(float(value), 9) + 0.0


def show_bytes(count: int) -> str:
    """``1412`` -> ``1,412 B``."""
    return f"{count:,} B"


def show_us(us: float) -> str:
    """``91.977`` -> ``91.977 us``: three decimals always."""
    return f"{us:.3f} us"


def show_ratio(larger_is_better: float) -> str:
    """A size ratio with its direction: ``2.56x smaller``, ``1.13x LARGER``, ``same size``."""
    if larger_is_better == 1.0:
        return "same size"
    if larger_is_better > 1.0:
        return f"{larger_is_better:.2f}x smaller"
    return f"{1.0 / larger_is_better:.2f}x LARGER" if larger_is_better > 0 else "LARGER"
