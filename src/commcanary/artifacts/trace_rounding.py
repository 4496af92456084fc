"""Microseconds of exchange rows turned into whole nanoseconds, counting what that changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.events import UNKNOWN
from commcanary.errors import InputRefusal
from commcanary.units import MAX_TIME_US, NS_PER_US

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


class Rounding:
    """Counts the values finer than 1 ns, and keeps the largest change in ns."""

    def __init__(self) -> None:
        self.count = 0
        self.largest_ns = 0.0

    def ns(self, us: NDArray[np.float64], place: Callable[[int], str]) -> NDArray[np.int64]:
        """int64[n] of float64[n] us, ``UNKNOWN`` for NaN; half to even.

        Raises ``InputRefusal`` outside 0 ... 1e12 us, at ``place`` of the position.
        """
        known = ~np.isnan(us)
        wrong = known & ~((us >= 0) & (us <= MAX_TIME_US))
        if wrong.any():
            position = int(np.argmax(wrong))
            raise InputRefusal(place(position), f"is {us[position]}", f"give 0 to {MAX_TIME_US:.0f} us")
        exact = us * NS_PER_US
        whole = np.rint(exact)
        changed = known & (whole / NS_PER_US != us)
        if changed.any():
            self.count += int(np.count_nonzero(changed))
            self.largest_ns = max(self.largest_ns, float(np.abs(exact - whole)[changed].max()))
        return np.where(known, whole, UNKNOWN).astype(np.int64)

    def add(self, other: Rounding) -> None:
        """Count what ``other`` counted too."""
        self.count += other.count
        self.largest_ns = max(self.largest_ns, other.largest_ns)
