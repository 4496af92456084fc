"""How long one collective takes: the cost terms that both models build on, per signature."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commcanary.artifacts.events import Signature
    from commcanary.replay.configuration import Configuration

REFERENCE_PRESSURE = 0.55
"""The pressure at which configuration and event pressures cancel; also what the pressure ablation sets."""


def startup_us(configuration: Configuration, ranks: int) -> float:
    """Latency term, us: the floor, a logarithmic tree depth, and a fixed launch cost."""
    return configuration.latency_floor_us + 1.15 * math.log2(max(2, ranks)) + 4.0


def traffic_factor(op: str, ranks: int) -> float:
    """Bytes on the slowest link per payload byte: the busbw factors of nccl-tests, and two flat ones."""
    if op == "all_reduce":
        return 2 * (ranks - 1) / ranks
    if op in ("reduce_scatter", "all_gather"):
        return (ranks - 1) / ranks
    return {"all_to_all": 1.6, "broadcast": 0.8}.get(op, 1.0)


def transfer_us(configuration: Configuration, signature: Signature, ranks: int) -> float:
    """Transfer term, us, alone on the wire and without compute beside it: bytes / bandwidth * factor."""
    wire = signature.bytes * 8 / (configuration.bandwidth_gbps * 1000)
    return wire * traffic_factor(signature.op, ranks)


def concurrency(signature: Signature) -> int:
    """The number of groups that communicate at once, at least 1."""
    return max(1, signature.concurrent_groups)


def contention(signature: Signature) -> float:
    """v4's stretch of the transfer by other groups that communicate at the same time."""
    return 1 + 0.22 * (concurrency(signature) - 1)


def effective_pressure(configuration: Configuration, event_pressure: float) -> float:
    """P: the pressure of an event under a configuration, from 0 to 1.5."""
    return min(1.5, max(0.0, configuration.compute_pressure * event_pressure / REFERENCE_PRESSURE))


def penalty(pressure: float) -> float:
    """Stretch of the transfer by compute that shares the device; ``pressure`` is the effective P."""
    return 1 + 0.18 * pressure
