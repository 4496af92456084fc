"""Nanoseconds, microseconds, bytes and percent: converted and printed in one way.

Inside the package times are int64 nanoseconds. People and JSON exchange files read microseconds
with three decimals, that is, ``ns / 1000`` with one division.
"""

from __future__ import annotations

import re
from fractions import Fraction
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


_SIZE = re.compile(r"^(?P<number>\d+(\.\d+)?)\s*(?P<unit>B|[kK]B|MB|GB|TB|KiB|MiB|GiB|TiB)?\Z")
_BYTES_OF_UNIT = {
    "B": 1,
    **{name: 1000**power for name, power in (("kB", 1), ("KB", 1), ("MB", 2), ("GB", 3), ("TB", 4))},
    **{name: 1024**power for name, power in (("KiB", 1), ("MiB", 2), ("GiB", 3), ("TiB", 4))},
}


def bytes_of(text: str | int) -> int:
    """Whole bytes of ``1048576``, ``"96 MiB"`` (1024^2) or ``"1.5 MB"`` (1000^2).

    Raises ``ValueError`` with what is allowed for anything else, a fraction of a byte included.
    """
    match = None if isinstance(text, bool) else _SIZE.match(str(text).strip())
    size = Fraction(match["number"]) * _BYTES_OF_UNIT[match["unit"] or "B"] if match else None
    if size is None or size.denominator != 1:
        raise ValueError(f"{text!r} is no size: give whole bytes, as 1048576, 96 MiB or 1.5 GB")
    return int(size)


def percent(part: int, whole: int) -> float | None:
    """``part`` of ``whole`` in percent with nine decimals; None where there is no whole."""
    return r9(100 * part / whole) if whole else None


def show_bytes(count: int) -> str:
    """``1412`` -> ``1,412 B``."""
    return f"{count:,} B"


def show_us(us: float) -> str:
    """``91.977`` -> ``91.977 us``: three decimals always."""
    return f"{us:.3f} us"


def show_count(number: int, what: str) -> str:
    """``1 event``, ``2 events``."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def show_ratio(larger_is_better: float) -> str:
    """A size ratio with its direction: ``2.56x smaller``, ``1.13x LARGER``, ``same size``.

    A ratio that two decimals print as 1.00 is ``about the same size``.
    """
    if larger_is_better == 1.0:
        return "same size"
    if larger_is_better > 0 and "1.00" in (f"{larger_is_better:.2f}", f"{1.0 / larger_is_better:.2f}"):
        return "about the same size"
    if larger_is_better > 1.0:
        return f"{larger_is_better:.2f}x smaller"
    return f"{1.0 / larger_is_better:.2f}x LARGER" if larger_is_better > 0 else "LARGER"
