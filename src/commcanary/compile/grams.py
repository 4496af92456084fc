"""Numbering all windows of 1, 2, 4, ... tokens: equal windows get equal numbers, in linear time per length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.factorize import first_appearance

if TYPE_CHECKING:
    from numpy.typing import NDArray


def doubled(grams: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Numbers of the windows of ``2 * width`` tokens, from those of ``width`` tokens; 2 width - 1 shorter."""
    if len(grams) <= width:
        return np.zeros(0, np.int64)
    return first_appearance(grams[:-width] * (int(grams.max()) + 1) + grams[width:])


def return_distances(grams: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64[n]: distance from each window to the next equal one; 0 where there is none."""
    order = np.argsort(grams, kind="stable")
    step = np.diff(order)
    same = grams[order[1:]] == grams[order[:-1]]
    distance = np.zeros(len(grams), np.int64)
    distance[order[:-1][same]] = step[same]
    return distance


def repeats(grams: NDArray[np.int64]) -> bool:
    """Does any window come twice? Longer ones cannot where none of these does."""
    return len(grams) > 0 and int(grams.max()) < len(grams) - 1
