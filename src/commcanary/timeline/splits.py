"""Variants of a segment, made by rule: one bucket cut at every allowed place, buckets in every order."""

from __future__ import annotations

import math
from itertools import combinations, permutations
from typing import TYPE_CHECKING

import msgspec

from commcanary.errors import BudgetRefusal, UnknownValueRefusal
from commcanary.timeline.segment import Bucket, Variant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commcanary.timeline.segment import Segment

PARTS = 2
"""Pieces of a bucket that is split, at most."""

GRID = 12
"""A bucket whose parts become ready evenly is cut at multiples of this fraction of its bytes."""

MOST_VARIANTS = 20_000
"""A sweep that would make more is refused."""


class Sweep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is swept: ``bucket`` (None: none) in 2 to ``parts`` pieces at ``grid`` places, and all ``orders``."""

    bucket: str | None = None
    parts: int = PARTS
    grid: int = GRID
    orders: bool = False


def swept(segment: Segment, sweep: Sweep) -> tuple[Variant, ...]:
    """The variants of ``sweep``. Those that repeat the segment itself are left out.

    Raises ``UnknownValueRefusal`` where the bucket does not say when its parts are ready, ``BudgetRefusal``
    for more variants than ``MOST_VARIANTS``.
    """
    index = None if sweep.bucket is None else _index(segment, sweep.bucket)
    marks = [] if index is None else _marks(segment.buckets[index], sweep.grid)
    _check_count(len(segment.buckets), len(marks), sweep)
    schedules = [("", segment.buckets)]
    if index is not None:
        for name, pieces in _pieces(segment.buckets[index], marks, sweep.parts):
            schedules.append((name, (*segment.buckets[:index], *pieces, *segment.buckets[index + 1 :])))
    variants = []
    for name, buckets in schedules:
        for order in permutations(buckets) if sweep.orders else [buckets]:
            if order == segment.buckets:
                continue
            label = " then ".join(bucket.name for bucket in order)
            variants.append(Variant(name=f"{name}, {label}" if name and sweep.orders else name or label, buckets=order))
    return tuple(variants)


def _index(segment: Segment, name: str) -> int:
    for index, bucket in enumerate(segment.buckets):
        if bucket.name == name:
            return index
    known = ", ".join(bucket.name for bucket in segment.buckets)
    raise UnknownValueRefusal("buckets", f"have none called {name!r}", f"known are {known}")


def _check_count(buckets: int, marks: int, sweep: Sweep) -> None:
    """Count the variants before any is made."""
    cuts = {1: 1} | {parts: math.comb(max(0, marks - 1), parts - 1) for parts in range(2, sweep.parts + 1) if marks}
    count = sum(ways * (math.factorial(buckets + parts - 1) if sweep.orders else 1) for parts, ways in cuts.items())
    if count > MOST_VARIANTS:
        raise BudgetRefusal(
            "sweep", f"makes {count} variants", f"narrow it to {MOST_VARIANTS}: fewer parts or no orders"
        )


def _pieces(bucket: Bucket, marks: list[tuple[int, float]], most: int) -> Iterator[tuple[str, tuple[Bucket, ...]]]:
    """Every way to cut ``bucket``: a name as ``b: 80 MiB + 16 MiB`` and the pieces, earliest ready first."""
    for parts in range(2, most + 1):
        for cut in combinations(marks[:-1], parts - 1):
            ends = [*cut, marks[-1]]
            sizes = [end[0] - start for end, start in zip(ends, [0, *(mark[0] for mark in cut)], strict=True)]
            pieces = tuple(
                Bucket(name=f"{bucket.name}.{number}", bytes=size, ready_us=end[1], needed_us=bucket.needed_us)
                for number, (size, end) in enumerate(zip(sizes, ends, strict=True), start=1)
            )
            yield f"{bucket.name}: " + " + ".join(_shown(size) for size in sizes), pieces


def _marks(bucket: Bucket, grid: int) -> list[tuple[int, float]]:
    """(bytes that are ready, us) at every place where the bucket may be cut, its end last."""
    if bucket.parameters:
        return _thinned(_parameter_marks(bucket), bucket.size, grid)
    if bucket.ready_from_us is None:
        raise UnknownValueRefusal(
            f"{bucket.name}.ready_from_us",
            "is not given, so that nothing says when a part of the bucket is ready",
            "give ready_from_us (parts become ready evenly from then on) or the bucket's parameters",
        )
    first, span = bucket.ready_from_us, bucket.ready_us - bucket.ready_from_us
    sizes = sorted({bucket.size * k // grid for k in range(1, grid + 1)} - {0})
    return [(size, first + span * size / bucket.size) for size in sizes]


def _parameter_marks(bucket: Bucket) -> list[tuple[int, float]]:
    marks: list[tuple[int, float]] = []
    total = 0
    for parameter in sorted(bucket.parameters, key=lambda parameter: parameter.ready_us):
        total += int(parameter.bytes)
        if marks and marks[-1][1] == parameter.ready_us:
            marks.pop()
        marks.append((total, parameter.ready_us))
    return marks


def _thinned(marks: list[tuple[int, float]], size: int, grid: int) -> list[tuple[int, float]]:
    """At most ``grid`` of the marks: for each multiple of the fraction the first mark that reaches it."""
    if len(marks) <= grid:
        return marks
    chosen = {next(i for i, mark in enumerate(marks) if mark[0] * grid >= k * size) for k in range(1, grid + 1)}
    return [marks[i] for i in sorted(chosen)]


def _shown(size: int) -> str:
    return f"{size / 2**20:g} MiB"
