"""Fair scaling: a control may differ in what it keeps, not in how long it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def scaled_to_total(gap_ns: NDArray[np.int64], total_ns: int) -> NDArray[np.int64]:
    """int64[n]: gaps in the same proportions that add up to ``total_ns`` exactly; even ones where all are 0.

    Running sums are scaled and floored in exact integers, so that rounding never accumulates.
    """
    own = int(gap_ns.sum())
    if own == total_ns:
        return gap_ns
    running = np.cumsum(gap_ns).tolist() if own else range(1, len(gap_ns) + 1)
    whole = own or len(gap_ns)
    scaled = np.array([ns * total_ns // whole for ns in running], dtype=np.int64)
    return np.diff(scaled, prepend=0)
