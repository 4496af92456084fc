"""A measured startup and bandwidth as a configuration of the replay models."""

from __future__ import annotations

import math

from commcanary.errors import InputRefusal
from commcanary.replay.configuration import Configuration
from commcanary.replay.duration import startup_us, traffic_factor
from commcanary.units import r9

GBIT_PER_GB = 8.0

_NO_FLOOR = Configuration(latency_floor_us=0.0)


def calibrated_configuration(
    name: str, label: str, startup: float, bandwidth_gb_s: float, operation: str, ranks: int
) -> Configuration:
    """The configuration under which ``operation`` on ``ranks`` ranks, alone and without compute beside it, takes
    ``startup`` us + bytes / ``bandwidth_gb_s``.

    Inverts the two cost terms of ``duration.py``: the floor is what is left of the startup after the model's
    depth and launch terms, the bandwidth carries the operation's traffic factor. Raises ``InputRefusal`` where
    nothing is left, and where the factor is 0 (one rank).
    """
    floor = startup - startup_us(_NO_FLOOR, ranks)
    if floor < 0:
        raise InputRefusal(
            "startup",
            f"is {startup:.3f} us, less than the {startup_us(_NO_FLOOR, ranks):.3f} us that the models count for the "
            f"launch and the depth of {ranks} ranks",
            "include the smallest sizes (lower --min-bytes)",
        )
    factor = traffic_factor(operation, ranks)
    if not (factor > 0 and math.isfinite(bandwidth_gb_s)):
        raise InputRefusal("ranks", f"{operation} on {ranks} rank(s) moves nothing", "measure two ranks or more")
    return Configuration(
        label=label,
        name=name,
        bandwidth_gbps=r9(GBIT_PER_GB * bandwidth_gb_s * factor),
        latency_floor_us=r9(floor),
    )
