"""Compiled scheduler-v4: one pass over the events, every sum in the order that ``twin_v4`` writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numba import njit

from commcanary.replay.duration import REFERENCE_PRESSURE
from commcanary.replay.kernel_noise import noise_us

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@njit(cache=True, error_model="numpy")
def replay_run(
    run_key: np.uint64,
    signature: NDArray[np.int32],
    resource: NDArray[np.int32],
    clock_us: NDArray[np.float64],
    skew_us: NDArray[np.float64],
    overlap_us: NDArray[np.float64],
    pressure: NDArray[np.float64],
    noise_hash: NDArray[np.uint64],
    startup_us: NDArray[np.float64],
    transfer_us: NDArray[np.float64],
    tail_concurrency: NDArray[np.float64],
    configured_pressure: float,
    overlap_efficiency: float,
    tails: bool,
    available_us: NDArray[np.float64],
    exposed_us: NDArray[np.float64],
    total_us: NDArray[np.float64],
    queue_wait_us: NDArray[np.float64],
) -> None:
    """Fill the last three columns for one (seed, iteration).

    The first eight columns are per event, the next three per signature (``transfer_us`` includes
    contention), ``available_us`` is per resource and starts at 0. An empty ``noise_hash`` means no noise.
    """
    noisy = len(noise_hash) > 0
    for i in range(len(signature)):
        kind = signature[i]
        skew = skew_us[i]
        effective = min(1.5, max(0.0, configured_pressure * pressure[i] / REFERENCE_PRESSURE))
        duration = startup_us[kind] + transfer_us[kind] * (1.0 + 0.18 * effective)
        if noisy:
            duration += noise_us(
                run_key ^ noise_hash[i], 0.015 + skew / 180.0, tail_concurrency[kind], skew, effective, tails
            )
        duration = max(0.5, duration)
        last = clock_us[i] + skew
        start = max(last, available_us[resource[i]])
        done = start + duration
        available_us[resource[i]] = done
        total = done - clock_us[i]
        total_us[i] = total
        exposed_us[i] = total - min(total, max(0.0, overlap_us[i]) * overlap_efficiency)
        queue_wait_us[i] = start - last
