"""What a replay is run under: the communication configuration, and the protocol of seeds and ablations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from commcanary.errors import InputRefusal

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

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

LARGEST_SEED = 2**63 - 1
"""Seeds start at 0: the noise takes them modulo 2^64, so no two of them are one."""

LARGEST_ITERATIONS = 10**9

DEFAULT_LABEL = "simulated-nccl"


class Configuration(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=False):
    """One communication configuration; numbers are stored as float whatever they were given as.

    ``bandwidth_gbps`` is B in Gbit/s, ``latency_floor_us`` F in us, ``compute_pressure`` C and
    ``overlap_efficiency`` E without unit. ``compute_slowdown`` is a and ``transfer_slowdown`` b of the
    closed-loop model: compute runs at 1 / (1 + a) beside a collective, a transfer at 1 / (1 + b) beside
    compute. ``name`` and ``label`` are texts of one line; a name of ``NAMED`` stands for its numbers and for no
    others. Raises InputRefusal for a value outside its range (``RANGES``), NaN and infinity included, for a text
    that is empty or not printable, and for a known name with other numbers.
    """

    label: str = DEFAULT_LABEL
    name: str | None = None
    bandwidth_gbps: float = 55.0
    latency_floor_us: float = 7.5
    compute_pressure: float = 0.55
    overlap_efficiency: float = 0.72
    compute_slowdown: float = 0.0
    transfer_slowdown: float = 0.0

    def __post_init__(self) -> None:
        for field, (low, high) in RANGES.items():
            value = getattr(self, field)
            _check_number(field, value, low, high)
            msgspec.structs.force_setattr(self, field, float(value))
        for field in ("label", "name"):
            _check_text(field, getattr(self, field))
        _check_meaning(self)


RANGES = {
    "bandwidth_gbps": (1e-3, 1e9),
    "latency_floor_us": (0.0, 1e9),
    "compute_pressure": (0.0, 1e9),
    "overlap_efficiency": (0.0, 1.0),
    "compute_slowdown": (0.0, 1e9),
    "transfer_slowdown": (0.0, 1e9),
}
"""Smallest and largest value of each number: wider than any machine, narrow enough that times stay int64 ns."""


def _check_number(field: str, value: object, low: float, high: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputRefusal(field, f"{value!r} is not a number", "give a finite number")
    if not low <= value <= high:  # NaN is neither
        raise InputRefusal(field, f"{value!r} is out of range", f"give a finite number from {low:g} to {high:g}")


def _check_text(field: str, value: str | None) -> None:
    if value is not None and not (value and value == value.strip() and value.isprintable()):
        raise InputRefusal(
            field, f"{value!r} is no text of one line", "give printable characters without blanks around them"
        )


def _check_meaning(configuration: Configuration) -> None:
    """Raise where a known name comes with numbers that are not its own."""
    meant = _NUMBERS_OF.get(configuration.name or "")
    if meant is None:
        return
    for field in RANGES:
        value, own = getattr(configuration, field), meant.get(field, _DEFAULT[field])
        if value != own:
            raise InputRefusal(
                field,
                f"is {value!r} under the name {configuration.name!r}, which stands for {own!r}",
                "give a configuration of other numbers another name",
            )


_DEFAULT: dict[str, float] = {
    field: default
    for field, default in zip(Configuration.__struct_fields__, Configuration.__struct_defaults__, strict=True)
    if field in RANGES
}
_NUMBERS_OF: dict[str, dict[str, float]] = {
    "baseline": {},
    "low_latency": {"latency_floor_us": 3.5},
    "high_bandwidth": {"bandwidth_gbps": 110.0, "latency_floor_us": 10.0},
    "overlap_friendly": {"latency_floor_us": 9.0, "overlap_efficiency": 0.95},
    "congested": {"bandwidth_gbps": 28.0, "compute_pressure": 0.95},
}

NAMED: dict[str, Configuration] = {
    name: Configuration(DEFAULT_LABEL, name, **{**_DEFAULT, **numbers}) for name, numbers in _NUMBERS_OF.items()
}
"""The five named configurations, by name."""

CHANGED = "+changed"
"""Ends the name of a named configuration of which a number was changed."""


def changed(name: str, numbers: Mapping[str, float]) -> Configuration:
    """The named configuration with some numbers of its own; it keeps its name only where none differs."""
    own = NAMED[name]
    same = all(getattr(own, field) == value for field, value in numbers.items())
    return msgspec.structs.replace(own, name=name if same else f"{name}{CHANGED}", **numbers)


def as_read(configuration: Configuration, reads: Collection[str]) -> Configuration:
    """The configuration as a report states it: a number that the model does not read is at its default.

    ``reads`` are the fields that it reads. A known name keeps all of its numbers.
    """
    if configuration.name in NAMED:
        return configuration
    unread = {field: _DEFAULT[field] for field in RANGES if field not in reads}
    return msgspec.structs.replace(configuration, **unread)


class Protocol(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Seeds, iterations per seed, and ablations (stored sorted by name).

    Raises InputRefusal for no seed, a repeated or out-of-range seed, fewer than one or more than 10^9
    iterations, and an unknown or repeated ablation.
    """

    seeds: tuple[int, ...] = (7,)
    iterations: int = 1
    ablations: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_seeds(self.seeds)
        if not _is_integer(self.iterations) or not 1 <= self.iterations <= LARGEST_ITERATIONS:
            raise InputRefusal(
                "iterations",
                f"{self.iterations!r} is out of range",
                f"give a whole number from 1 to {LARGEST_ITERATIONS}",
            )
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
        if not _is_integer(seed) or not 0 <= seed <= LARGEST_SEED:
            raise InputRefusal(f"seeds[{index}]", f"{seed!r} is no seed", "give a whole number from 0 to 2^63 - 1")
        if seed in seeds[:index]:
            raise InputRefusal(
                f"seeds[{index}]", f"{seed} is given twice", "name each seed once: equal seeds repeat a run"
            )


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
