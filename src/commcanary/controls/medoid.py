"""The medoid of a group: its most ordinary member."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def medoid(points: NDArray[np.float64]) -> int:
    """The row of ``points`` (float64[m, columns], normalised) nearest in L1 to the column medians.

    Ties go to the smallest row.
    """
    return int(np.argmin(np.abs(points - np.median(points, axis=0)).sum(axis=1)))
