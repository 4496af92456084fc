"""Hartigan's dip: how far a sample is from having one mode.

The dip is the smallest largest distance between the sample's distribution function and one with a single
mode: 1/(2n) for a sample as even as can be, near 1/4 for two equal heaps. J. A. Hartigan and P. M. Hartigan,
"The dip test of unimodality", Annals of Statistics 13 (1985): the modal interval shrinks to where convex
minorant and concave majorant are farthest apart, and what lies outside it bounds the dip from below.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIMULATIONS = 1000
_SEED = 1985


def dip(values: NDArray[np.float64]) -> float:
    """The dip of ``values``, float64[n] with n > 0."""
    x = np.sort(np.asarray(values, dtype=np.float64))
    rank = np.arange(len(x), dtype=np.float64)
    low, high = 0, len(x) - 1
    largest = 1.0  # twice the dip, in counts
    while x[low] < x[high]:
        convex, concave = _hull(x, low, high, -1), _hull(x, low, high, 1)
        below, above = _along(x, convex), _along(x, concave)
        corners = np.unique(convex + concave)
        apart = (above - below)[corners - low] + 1
        widest = int(corners[np.flatnonzero(apart == apart.max())[-1]])
        if apart.max() <= largest:
            break
        left = max(corner for corner in convex if corner <= widest)
        right = min(corner for corner in concave if corner >= widest)
        outside_left = (rank[low : left + 1] - below[: left + 1 - low]).max() + 1
        outside_right = (above[right - low :] - rank[right : high + 1]).max() + 1
        largest = max(largest, float(outside_left), float(outside_right))
        if (left, right) == (low, high):
            break
        low, high = left, right
    return largest / (2 * len(x))


def dip_p_value(found: float, n: int) -> float:
    """Share of uniform samples of size ``n`` with a dip of ``found`` or more (1,000 seeded simulations)."""
    simulated = _uniform_dips(n)
    return float((1 + (simulated >= found).sum()) / (1 + len(simulated)))


@lru_cache(maxsize=8)
def _uniform_dips(n: int) -> NDArray[np.float64]:
    generator = np.random.default_rng((_SEED, n))
    return np.array([dip(generator.random(n)) for _ in range(SIMULATIONS)])


def _hull(x: NDArray[np.float64], low: int, high: int, side: int) -> list[int]:
    """Corners of the convex minorant (side -1) or concave majorant (side 1) of the points (x[i], i)."""
    corners: list[int] = []
    for i in range(low, high + 1):
        while len(corners) > 1:
            a, b = corners[-2], corners[-1]
            turn = (x[b] - x[a]) * (i - a) - (x[i] - x[a]) * (b - a)
            if side * turn < 0:
                break
            corners.pop()
        corners.append(i)
    return corners


def _along(x: NDArray[np.float64], corners: list[int]) -> NDArray[np.float64]:
    """The hull at every point from its first corner to its last; the points themselves where it is upright."""
    parts = [np.array([float(corners[0])])]
    for a, b in pairwise(corners):
        if x[b] > x[a]:
            parts.append(a + (x[a + 1 : b + 1] - x[a]) * ((b - a) / (x[b] - x[a])))
        else:
            parts.append(np.arange(a + 1, b + 1, dtype=np.float64))
    return np.concatenate(parts)
