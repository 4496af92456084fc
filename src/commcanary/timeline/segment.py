"""A stretch of compute with the buckets that are communicated beside it: what a what-if starts from."""

from __future__ import annotations

import math
from collections import Counter

import msgspec

from commcanary.errors import InputRefusal
from commcanary.timeline.alpha_beta import AlphaBeta
from commcanary.units import bytes_of


class Parameter(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A gradient: its bytes (a number or text as ``4 MiB``) and the compute, us, after which it is ready."""

    name: str
    bytes: int | str
    ready_us: float

    def __post_init__(self) -> None:
        _sized(self, self.name)


class Bucket(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """One collective. Times count the segment's own compute, in us, from its start.

    It may start at ``ready_us`` and is needed at ``needed_us`` (the segment's end where None). Parts of it are
    ready earlier where its ``parameters`` say so, or, evenly, from ``ready_from_us`` on.
    """

    name: str
    bytes: int | str
    ready_us: float
    needed_us: float | None = None
    ready_from_us: float | None = None
    parameters: tuple[Parameter, ...] = ()

    def __post_init__(self) -> None:
        _sized(self, self.name)

    @property
    def size(self) -> int:
        """Bytes."""
        return int(self.bytes)


class Variant(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Another schedule of the same bytes. ``slowdown_us`` is a measured lengthening of the compute beside it."""

    name: str
    buckets: tuple[Bucket, ...]
    slowdown_us: float | None = None


class Measured(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A collective that was measured: bytes and us."""

    bytes: int | str
    us: float

    def __post_init__(self) -> None:
        _sized(self, "collectives")


class Segment(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """``compute_us`` of compute alone, the ``buckets`` in the order of their stream, and ``variants`` of them.

    The law of the collectives is given as ``law`` or fitted to measured ``collectives``. ``compute_slowdown`` a
    and ``transfer_slowdown`` b are the interference of the closed-loop model: compute runs at 1 / (1 + a) beside
    a collective, a transfer at 1 / (1 + b) beside compute. ``measured_us`` is the segment's measured length,
    ``assumptions`` what its maker took for granted.
    """

    name: str = "segment"
    compute_us: float
    buckets: tuple[Bucket, ...]
    variants: tuple[Variant, ...] = ()
    law: AlphaBeta | None = None
    collectives: tuple[Measured, ...] = ()
    compute_slowdown: float = 0.0
    transfer_slowdown: float = 0.0
    measured_us: float | None = None
    assumptions: tuple[str, ...] = ()


def check_segment(segment: Segment) -> None:
    """Raise ``InputRefusal`` with the path of the first value that is impossible."""
    _at_least(0.0, segment.compute_us, "compute_us")
    for field in ("compute_slowdown", "transfer_slowdown"):
        _at_least(0.0, getattr(segment, field), field)
    if segment.measured_us is not None:
        _at_least(0.0, segment.measured_us, "measured_us")
    if segment.law is not None:
        _at_least(0.0, segment.law.startup_us, "law.startup_us")
        if not (math.isfinite(segment.law.bandwidth_gb_s) and segment.law.bandwidth_gb_s > 0):
            raise InputRefusal(
                "law.bandwidth_gb_s", f"is {segment.law.bandwidth_gb_s}", "give GB/s of payload bytes, above 0"
            )
    for index, collective in enumerate(segment.collectives):
        if not (math.isfinite(collective.us) and collective.us > 0):
            raise InputRefusal(f"collectives[{index}].us", f"is {collective.us}", "give us, above 0")
    _check_buckets(segment.buckets, segment.compute_us, "buckets")
    names = Counter(variant.name for variant in segment.variants)
    for index, variant in enumerate(segment.variants):
        place = f"variants[{index}]"
        if names[variant.name] > 1 or variant.name == "as it is":
            raise InputRefusal(f"{place}.name", f"{variant.name!r} is taken", "give each variant its own name")
        _check_buckets(variant.buckets, segment.compute_us, f"{place}.buckets")
        _check_same_bytes(segment, variant, place)
        if variant.slowdown_us is not None:
            _at_least(0.0, variant.slowdown_us, f"{place}.slowdown_us")


def _check_buckets(buckets: tuple[Bucket, ...], compute_us: float, place: str) -> None:
    if not buckets:
        raise InputRefusal(place, "is empty", "give one bucket or more")
    names = Counter(bucket.name for bucket in buckets)
    for index, bucket in enumerate(buckets):
        here = f"{place}[{index}]"
        if names[bucket.name] > 1:
            raise InputRefusal(f"{here}.name", f"{bucket.name!r} is given twice", "give each bucket its own name")
        needed = compute_us if bucket.needed_us is None else bucket.needed_us
        for field, value, top, what in (
            ("ready_us", bucket.ready_us, compute_us, "compute_us"),
            ("needed_us", needed, compute_us, "compute_us"),
            ("ready_us", bucket.ready_us, needed, "needed_us"),
            ("ready_from_us", bucket.ready_from_us, bucket.ready_us, "ready_us"),
        ):
            if value is not None and not 0 <= value <= top:
                raise InputRefusal(f"{here}.{field}", f"is {value}", f"give us from 0 to {what}, {top}")
        if bucket.parameters:
            _check_parameters(bucket, here)


def _check_parameters(bucket: Bucket, place: str) -> None:
    total = sum(int(parameter.bytes) for parameter in bucket.parameters)
    if total != bucket.size:
        raise InputRefusal(
            f"{place}.parameters", f"hold {total} bytes, the bucket {bucket.size}", "list all of its parameters"
        )
    if bucket.ready_from_us is not None:
        raise InputRefusal(f"{place}.ready_from_us", "is given beside parameters", "their ready times say it: leave it")
    latest = max(parameter.ready_us for parameter in bucket.parameters)
    if latest != bucket.ready_us or min(parameter.ready_us for parameter in bucket.parameters) < 0:
        raise InputRefusal(
            f"{place}.ready_us", f"is {bucket.ready_us}, its last parameter is ready at {latest}", "make them agree"
        )


def _check_same_bytes(segment: Segment, variant: Variant, place: str) -> None:
    before, after = (sum(bucket.size for bucket in each.buckets) for each in (segment, variant))
    if before != after:
        raise InputRefusal(
            f"{place}.buckets",
            f"move {after} bytes, the segment {before}",
            "a variant moves the same bytes at other times or in other pieces",
        )


def _at_least(low: float, value: float, place: str) -> None:
    if not (math.isfinite(value) and value >= low):
        raise InputRefusal(place, f"is {value}", f"give a finite number of {low:g} or more")


def _sized(holder: Parameter | Bucket | Measured, place: str) -> None:
    try:
        size = bytes_of(holder.bytes)
    except ValueError as error:
        raise InputRefusal(f"{place}.bytes", str(error), "correct the size") from None
    if size <= 0:
        raise InputRefusal(f"{place}.bytes", f"is {size}", "give one byte or more")
    msgspec.structs.force_setattr(holder, "bytes", size)
