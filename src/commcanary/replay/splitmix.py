"""The counter-based generator: 64 bits of counter in, three uniform numbers out. Plain Python.

SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). The compiled
form is in ``kernel_noise``; this one is its definition.
"""

from __future__ import annotations

MASK = 0xFFFF_FFFF_FFFF_FFFF
GOLDEN = 0x9E37_79B9_7F4A_7C15
MIX_1 = 0xBF58_476D_1CE4_E5B9
MIX_2 = 0x94D0_49BB_1331_11EB
ITERATION_STEP = 0xD6E8_FEB8_6659_FD93


def splitmix64(value: int) -> int:
    """The SplitMix64 output for ``value`` taken modulo 2**64."""
    mixed = (value + GOLDEN) & MASK
    mixed = ((mixed ^ (mixed >> 30)) * MIX_1) & MASK
    mixed = ((mixed ^ (mixed >> 27)) * MIX_2) & MASK
    return mixed ^ (mixed >> 31)


def run_key(seed: int, iteration: int) -> int:
    """What seed and iteration (from 0) contribute to every counter of a run."""
    return (seed & MASK) ^ (((iteration + 1) * ITERATION_STEP) & MASK)


def uniform(counter: int, lane: int) -> float:
    """A number in [0, 1) from ``counter``, one per lane (0, 1, 2)."""
    return (splitmix64(counter ^ ((lane * GOLDEN) & MASK)) >> 11) / 2**53
