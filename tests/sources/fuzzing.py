"""Files damaged at random, and what a reader may do with them: refuse in one line, or read. Nothing else, and soon."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from typing import TYPE_CHECKING

from commcanary.errors import EXIT_REFUSED, CommCanaryError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

INPUTS = int(os.environ.get("COMMCANARY_FUZZ_INPUTS", "400"))
"""Damaged files per kind of file; ``make fuzz`` asks for many more."""

LONGEST_SECONDS = 5.0


def refused(read: Callable[[], object], name: str = "") -> bool:
    """Whether ``read`` refuses in one line that holds ``name``, with the exit code of a refusal.

    Any other error is raised.
    """
    started = time.perf_counter()
    refusal = None
    try:
        read()
    except CommCanaryError as raised:
        refusal = raised
    assert time.perf_counter() - started < LONGEST_SECONDS
    if refusal is None:
        return False
    assert "\n" not in str(refusal)
    assert name in str(refusal)
    assert refusal.exit_code == EXIT_REFUSED
    return True


def mutated(rng: random.Random, text: bytes) -> bytes:
    data = bytearray(text)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        at = rng.randrange(len(data))
        kind = rng.randrange(6)
        if kind == 0:
            data[at] = rng.randrange(256)
        elif kind == 1:
            del data[at : at + rng.choice([1, 1, 7, 200])]
        elif kind == 2:
            data[at:at] = rng.choice(
                [b'"', b"\\", b"{", b"}", b"]", b",", b"-", b"9", b"NaN", b"1e999", b"\xff", b"null"]
            )
        elif kind == 3:
            del data[at:]
        elif kind == 4:
            end = at + rng.choice([10, 300])
            data[at:at] = data[at:end]
        else:
            number = rng.choice([b"-1", b"18446744073709551616", b"1e308", b"0.1", b"[]", b'""', b"true"])
            digits = [i for i in range(at, min(at + 200, len(data))) if 48 <= data[i] < 58]
            if digits:
                data[digits[0] : digits[0] + 1] = number
        if not data:
            return b""
    return bytes(data)


def flipped(rng: random.Random, data: bytes) -> bytes:
    """A binary file with some bytes replaced, or its end cut off."""
    result = bytearray(data)
    for _ in range(rng.choice([1, 1, 3, 20])):
        at = rng.randrange(len(result))
        if rng.random() < 0.1:
            del result[at:]
            break
        result[at] = rng.randrange(256)
    return bytes(result)


def fates_of_damaged(
    path: Path,
    whole: bytes,
    read: Callable[[random.Random], object],
    *,
    damage: Callable[[random.Random, bytes], bytes] = mutated,
    inputs: int = INPUTS,
    name: str = "",
) -> Counter[bool]:
    """How many of ``inputs`` damaged copies of ``whole`` at ``path`` are refused (True), and how many are read.

    ``read`` gets the random numbers, so as to vary its settings. Refusals hold ``name``.
    """
    rng = random.Random(20261129)
    fates = Counter({True: 0, False: 0})
    for _ in range(inputs):
        path.write_bytes(damage(rng, whole))
        fates[refused(lambda: read(rng), name)] += 1
    return fates
