"""Whose clock a process reads, and how far clocks of different hosts stand apart."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

ROUNDS = 16
WAIT = timedelta(seconds=60)
_PREFIX = "commcanary/clock"


class Calibration(NamedTuple):
    """``offset_ns`` added to own times gives rank 0's, to within ``error_ns``; None where unknown."""

    id: str
    offset_ns: int | None
    error_ns: int | None


def clock_id() -> str:
    """Names the monotonic clock of this process: equal exactly where two processes read the same one.

    That is one boot of one kernel and one time namespace, hashed: the name says nothing about the host.
    """
    parts = []
    try:
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
        parts.append(str(Path("/proc/self/ns/time").readlink()))
    except OSError:
        pass
    if not parts:  # no Linux: nothing tells two hosts apart for certain, so no two processes agree
        parts.append(f"{os.urandom(8).hex()} {os.getpid()}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def calibrate(
    store: Any, rank: int, world_size: int, own_id: str, now: Callable[[], int] = time.monotonic_ns
) -> Calibration:
    """Exchange clock names through ``store`` and time round trips to rank 0 where they differ.

    Called by every rank. ``store`` has ``set``, ``get`` and ``wait`` as those of torch.distributed. The offset
    comes from the shortest of ``ROUNDS`` round trips; half of that trip bounds its error at that moment.
    """
    store.set(f"{_PREFIX}/id/{rank}", own_id)
    if rank == 0:
        for other in range(1, world_size):
            if _get(store, f"{_PREFIX}/id/{other}") != own_id:
                for number in range(ROUNDS):
                    _get(store, f"{_PREFIX}/ask/{other}/{number}")
                    store.set(f"{_PREFIX}/answer/{other}/{number}", str(now()))
        return Calibration(own_id, 0, 0)
    if _get(store, f"{_PREFIX}/id/0") == own_id:
        return Calibration(own_id, 0, 0)
    best = None
    for number in range(ROUNDS):
        asked = now()
        store.set(f"{_PREFIX}/ask/{rank}/{number}", "?")
        answer = int(_get(store, f"{_PREFIX}/answer/{rank}/{number}"))
        answered = now()
        trip = answered - asked
        if best is None or trip < best[0]:
            best = (trip, answer - (asked + answered) // 2)
    assert best is not None
    return Calibration(own_id, best[1], best[0] // 2 + 1)


def _get(store: Any, key: str) -> str:
    store.wait([key], WAIT)
    value = store.get(key)
    return value.decode() if isinstance(value, bytes) else str(value)
