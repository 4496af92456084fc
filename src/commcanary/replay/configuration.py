"""What a replay is run under: the communication configuration, and the protocol of seeds and ablations."""

from __future__ import annotations

import math

import msgspec

from commcanary.errors import InputRefusal

ABLATIONS = (
    "arrival_skew",
    "compute_overlap",
    "noise",
    "observed_exposed",
    "operation_ordering",
    "pressure",
    "queue_reset_gaps",
    "rare_tail_windows",
)
"""The aspects of a canary, or of the model, that a replay can be told to leave out."""

SMALLEST_SEED = -(2**63)
LARGEST_SEED = 2**64 - 1


class Configuration(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=False):
    """One communication configuration; numbers are stored as float whatever they were given as.

    ``bandwidth_gbps`` is B in Gbit/s, ``latency_floor_us`` F in us, ``compute_pressure`` C and
    ``overlap_efficiency`` E without unit. ``compute_slowdown`` is a and ``transfer_slowdown`` b of the
    closed-loop model: compute runs at 1 / (1 + a) beside a collective, a transfer at 1 / (1 + b) beside
    compute. Raises InputRefusal for a value outside its range, NaN and infinity included.
    """

    label: str = "simulated-nccl"
    name: str | None = None
    bandwidth_gbps: float = 55.0
    latency_floor_us: float = 7.5
    compute_pressure: float = 0.55
    overlap_efficiency: float = 0.72
    compute_slowdown: float = 0.0
    transfer_slowdown: float = 0.0

    def __post_init__(self) -> None:
        for field in _NUMBERS:
            value = getattr(self, field)
            _check_number(field, value)
            msgspec.structs.force_setattr(self, field, float(value))


_NUMBERS = (
    "bandwidth_gbps",
    "latency_floor_us",
    "compute_pressure",
    "overlap_efficiency",
    "compute_slowdown",
    "transfer_slowdown",
)


def _check_number(field: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputRefusal(field, f"{value!r} is not a number", "give a finite number")
    if field == "bandwidth_gbps":
        allowed, fits = "above 0", value > 0
    elif field == "overlap_efficiency":
        allowed, fits = "from 0 to 1", 0 <= value <= 1
    else:
        allowed, fits = "of 0 or more", value >= 0
    if not (fits and math.isfinite(value)):
        raise InputRefusal(field, f"{value!r} is out of range", f"give a finite number {allowed}")


NAMED: dict[str, Configuration] = {
    configuration.name: configuration
    for configuration in (
        Configuration(name="baseline"),
        Configuration(name="low_latency", latency_floor_us=3.5),
        Configuration(name="high_bandwidth", bandwidth_gbps=110.0, latency_floor_us=10.0),
        Configuration(name="overlap_friendly", latency_floor_us=9.0, overlap_efficiency=0.95),
        Configuration(name="congested", bandwidth_gbps=28.0, compute_pressure=0.95),
    )
    if configuration.name is not None
}
"""The five named configurations, by name."""


class Protocol(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Seeds, iterations per seed, and ablations (stored sorted by name).

    Raises InputRefusal for no seed, a repeated or out-of-range seed, fewer than one iteration, and an
    unknown or repeated ablation.
    """

    seeds: tuple[int, ...] = (7,)
    iterations: int = 1
    ablations: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_seeds(self.seeds)
        if not _is_integer(self.iterations) or self.iterations < 1:
            raise InputRefusal("iterations", f"{self.iterations!r} is not a count", "give a whole number of 1 or more")
        check_ablations(self.ablations)
        msgspec.structs.force_setattr(self, "ablations", tuple(sorted(self.ablations)))


def check_ablations(ablations: tuple[str, ...]) -> None:
    """Raise InputRefusal at the first unknown or repeated name."""
    for index, name in enumerate(ablations):
        if name not in ABLATIONS:
            raise InputRefusal(f"ablations[{index}]", f"{name!r} is no ablation", f"known are {', '.join(ABLATIONS)}")
        if name in ablations[:index]:
            raise InputRefusal(f"ablations[{index}]", f"{name!r} is given twice", "name each ablation once")


def _check_seeds(seeds: tuple[int, ...]) -> None:
    if not seeds:
        raise InputRefusal("seeds", "no seed is given", "give at least one whole number, for example 7")
    for index, seed in enumerate(seeds):
        if not _is_integer(seed) or not SMALLEST_SEED <= seed <= LARGEST_SEED:
            raise InputRefusal(
                f"seeds[{index}]", f"{seed!r} is no seed", "give a whole number from -2**63 to 2**64 - 1"
            )
        if seed in seeds[:index]:
            raise InputRefusal(
                f"seeds[{index}]", f"{seed} is given twice", "name each seed once: equal seeds repeat a run"
            )


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
