"""The medoid of a group: its most ordinary member."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DECIMALS = 9
"""Distances are compared to this many decimals, so that rounding in the last bit decides no tie."""


def medoid(points: NDArray[np.float64], scale: NDArray[np.float64]) -> int:
    """The row of ``points`` (float64[m, columns]) with the smallest sum of |x - column median| / scale.

    Ties go to the smallest row.
    """
    return int(np.argmin(distances(points, np.median(points, axis=0), scale)))


def distances(
    points: NDArray[np.float64], centre: NDArray[np.float64], scale: NDArray[np.float64]
) -> NDArray[np.float64]:
    """float64[m]: L1 distance of every row from ``centre`` over ``scale``, to nine decimals."""
    return np.asarray(np.round((np.abs(points - centre) / scale).sum(axis=1), _DECIMALS), dtype=np.float64)
