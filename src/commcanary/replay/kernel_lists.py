"""Compiled lists of the records that something happened to at one moment, each named once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numba import njit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@njit(inline="always")
def listed_once(records: NDArray[Any], names: NDArray[np.int32], count: int, index: int) -> int:
    """Append ``index`` to ``names[:count]`` unless its record says that it is listed; return the new count."""
    if records[index].listed:
        return count
    records[index].listed = True
    names[count] = index
    return count + 1
