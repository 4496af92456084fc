"""Compiled samples of a general closed-loop run that is over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numba import njit

from commcanary.replay.kernel_durations import whole_ns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@njit(cache=True, error_model="numpy")
def fill_samples(
    signature: NDArray[np.int32],
    member_bounds: NDArray[np.int64],
    events: NDArray[Any],
    start_ns: NDArray[np.int64],
    completion_ns: NDArray[np.int64],
    samples: NDArray[np.float64],
) -> None:
    """Fill ``samples`` (5 rows of n, us, in the order of ``Samples``) from the records that the run leaves."""
    for i in range(len(signature)):
        mark = events[i]
        size = member_bounds[signature[i] + 1] - member_bounds[signature[i]]
        skew = mark.latest - mark.earliest
        samples[0, i] = max(0, completion_ns[i] - mark.earliest_wait) / 1000.0
        samples[1, i] = (completion_ns[i] - mark.earliest) / 1000.0
        samples[2, i] = (start_ns[i] - mark.latest) / 1000.0
        samples[3, i] = skew / 1000.0
        samples[4, i] = whole_ns(skew - (mark.issues - size * mark.earliest) / size) / 1000.0
