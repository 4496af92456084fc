"""Compiled draws of the latency phases of one closed-loop run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numba import njit

from commcanary.replay.grid import JUST_ABOVE_HALF
from commcanary.replay.kernel_noise import noise_us

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@njit(cache=True)
def whole_ns(ns: float) -> int:
    """``grid.whole_ns``."""
    return int(ns + JUST_ABOVE_HALF)


@njit(cache=True, error_model="numpy")
def draw_latencies(
    run_key: np.uint64,
    signature: NDArray[np.int32],
    skew_us: NDArray[np.float64],
    pressure: NDArray[np.float64],
    noise_hash: NDArray[np.uint64],
    startup_us: NDArray[np.float64],
    tail_concurrency: NDArray[np.float64],
    tails: bool,
    latency_ns: NDArray[np.int64],
) -> None:
    """Fill ``latency_ns`` (per event). ``startup_us`` and ``tail_concurrency`` are per signature, the rest per event.

    ``pressure`` is the effective P; an empty ``noise_hash`` means no noise.
    """
    noisy = len(noise_hash) > 0
    for i in range(len(signature)):
        latency = startup_us[signature[i]]
        if noisy:
            skew = skew_us[i]
            concurrent = tail_concurrency[signature[i]]
            counter = run_key ^ noise_hash[i]
            latency += noise_us(counter, 0.015 + skew / 180.0, concurrent, skew, pressure[i], tails)
        latency_ns[i] = whole_ns(latency * 1000.0)
