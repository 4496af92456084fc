"""Compiled SplitMix64 draws, shared by the models' kernels; ``splitmix`` is the definition."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from commcanary.replay.splitmix import GOLDEN, MASK, MIX_1, MIX_2

_GOLDEN = np.uint64(GOLDEN)
_LANES = (np.uint64(0), np.uint64(GOLDEN), np.uint64(GOLDEN * 2 & MASK))
_MIX_1 = np.uint64(MIX_1)
_MIX_2 = np.uint64(MIX_2)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_UNIT = 1.0 / 2.0**53


@njit(cache=True)
def splitmix64(value: np.uint64) -> np.uint64:
    """uint64 -> uint64."""
    mixed = value + _GOLDEN
    mixed = (mixed ^ (mixed >> _S30)) * _MIX_1
    mixed = (mixed ^ (mixed >> _S27)) * _MIX_2
    return mixed ^ (mixed >> _S31)


@njit(cache=True)
def _unit(value: np.uint64) -> float:
    # 53 bits are exact as int64, and the signed conversion is one instruction.
    drawn: float = np.int64(splitmix64(value) >> _S11) * _UNIT
    return drawn


@njit(cache=True)
def noise_us(
    counter: np.uint64,
    tail_base: float,
    tail_concurrency: float,
    skew_us: float,
    pressure: float,
    tails: bool,
) -> float:
    """``noise.noise_us``; ``tail_base`` is 0.015 + skew / 180, ``tail_concurrency`` 0.04 * (cg - 1)."""
    jitter = -0.45 + 1.35 * _unit(counter ^ _LANES[0])
    if not tails:
        return jitter
    if _unit(counter ^ _LANES[1]) > min(0.35, tail_base + 0.035 * pressure + tail_concurrency):
        return jitter
    remaining = max(1e-15, 1.0 - _unit(counter ^ _LANES[2]))
    return jitter + -math.log(remaining) * (3.5 + 8.0 * pressure + 0.08 * skew_us)
