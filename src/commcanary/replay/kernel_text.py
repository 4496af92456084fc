"""Compiled writer of canonical noise identities; ``noise.identity`` is the definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

HEAD = np.frombuffer(b'{"arrival_offsets_us":[', dtype=np.uint8)
SEQUENCE = np.frombuffer(b',"message_sequence":', dtype=np.uint8)
OCCURRENCE = np.frombuffer(b',"occurrence":', dtype=np.uint8)
ZERO, POINT, COMMA = 48, 46, 44


@njit(cache=True, inline="never")
def _write_bytes(text: NDArray[np.uint8], at: int, source: NDArray[np.uint8]) -> int:
    for byte in source:
        text[at] = byte
        at += 1
    return at


@njit(cache=True)
def _write_whole(text: NDArray[np.uint8], at: int, value: int) -> int:
    """Decimal digits of a value of 0 or more."""
    digits = 1
    rest = value // 10
    while rest > 0:
        digits += 1
        rest //= 10
    for place in range(at + digits - 1, at - 1, -1):
        text[place] = ZERO + value % 10
        value //= 10
    return at + digits


@njit(cache=True)
def _write_us(text: NDArray[np.uint8], at: int, ns: int) -> int:
    """The shortest decimal that reads back as ns / 1000: up to three decimals, at least one.

    Holds below 10**15 ns, where 15 digits identify a float64; that is the largest time a trace may state.
    """
    at = _write_whole(text, at, ns // 1000)
    text[at] = POINT
    at += 1
    rest = ns % 1000
    text[at] = ZERO + rest // 100
    at += 1
    if rest % 100 != 0:
        text[at] = ZERO + rest // 10 % 10
        at += 1
        if rest % 10 != 0:
            text[at] = ZERO + rest % 10
            at += 1
    return at


@njit(cache=True)
def write_identities(
    first: int,
    offsets_ns: NDArray[np.int64],
    offset_bounds: NDArray[np.int64],
    signature: NDArray[np.int32],
    message_sequence: NDArray[np.int64],
    occurrence: NDArray[np.int64],
    middles: NDArray[np.uint8],
    middle_bounds: NDArray[np.int64],
    tails: NDArray[np.uint8],
    tail_bounds: NDArray[np.int64],
    text: NDArray[np.uint8],
    bounds: NDArray[np.int64],
) -> None:
    """Write the identities of events ``first``, ``first + 1``, ... into ``text``.

    ``bounds`` (one entry more than there are events to write) receives where each begins and ends.
    """
    at = 0
    bounds[0] = 0
    for i in range(len(bounds) - 1):
        event = first + i
        kind = signature[event]
        at = _write_bytes(text, at, HEAD)
        for k in range(offset_bounds[event], offset_bounds[event + 1]):
            if k > offset_bounds[event]:
                text[at] = COMMA
                at += 1
            at = _write_us(text, at, offsets_ns[k])
        at = _write_bytes(text, at, middles[middle_bounds[kind] : middle_bounds[kind + 1]])
        if message_sequence[event] >= 0:
            at = _write_bytes(text, at, SEQUENCE)
            at = _write_whole(text, at, message_sequence[event])
        at = _write_bytes(text, at, OCCURRENCE)
        at = _write_whole(text, at, occurrence[event])
        at = _write_bytes(text, at, tails[tail_bounds[kind] : tail_bounds[kind + 1]])
        bounds[i + 1] = at
