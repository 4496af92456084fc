"""Before and after: two overlap documents of one job, step time deciding."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from commcanary.errors import InputRefusal
from commcanary.timeline.overlap import Against, PartChange

if TYPE_CHECKING:
    from collections.abc import Callable

    from commcanary.timeline.device_rows import DeviceOverlap, Share
    from commcanary.timeline.overlap import Overlap, Payload

FASTER, SLOWER, NOT_SEPARATED, UNKNOWN = "faster", "slower", "not separated", "unknown"

_PARTS: tuple[tuple[str, Callable[[DeviceOverlap], int]], ...] = (
    ("span", lambda d: d.main.span_ns),
    ("compute only", lambda d: d.main.compute_only_ns),
    ("communication only", lambda d: d.main.communication_only_ns),
    ("both", lambda d: d.main.both_ns),
    ("neither", lambda d: d.main.neither_ns),
)


def against(before: Overlap, after: Overlap, base: str) -> Against:
    """The change from ``before`` (content id ``base``) to ``after``.

    Raises ``InputRefusal`` where the two are not the same program measured in the same way: other
    definitions, other ranks, or other bytes per step.
    """
    _check_comparable(before, after)
    program = _program(before, after)
    left, right = ([step.longest_ns for step in side.steps] for side in (before, after))
    verdict, why = _verdict(left, right)
    changes = []
    if left and right:
        changes.append(_change("median step time", float(np.median(left)), float(np.median(right))))
    scale = [max(len(side), 1) if left and right else 1 for side in (left, right)]
    for what, of in _PARTS:
        sums = [
            sum(of(d) for d in side.devices) / len(side.devices) / n
            for side, n in zip((before, after), scale, strict=True)
        ]
        changes.append(_change(what, *sums))
    return Against(
        base=base,
        verdict=verdict,
        why=why,
        program=program,
        before_steps=before.steps,
        after_steps=after.steps,
        changes=tuple(changes),
    )


def _change(what: str, before: float, after: float) -> PartChange:
    return PartChange(what=what, before=before, after=after, change=after - before)


def _verdict(before: list[int], after: list[int]) -> tuple[str, str]:
    """Faster or slower where every step of one side is shorter than every step of the other."""
    if not before or not after:
        side = "before" if not before else "after"
        return UNKNOWN, f"no complete profiler step {side}; parts alone do not decide"
    counts = f"{len(before)} steps before, {len(after)} after"
    if max(after) < min(before):
        return FASTER, f"every step after is shorter than every step before ({counts})"
    if min(after) > max(before):
        return SLOWER, f"every step after is longer than every step before ({counts})"
    return NOT_SEPARATED, f"step times before and after overlap ({counts})"


def _check_comparable(before: Overlap, after: Overlap) -> None:
    for field in before.settings.__struct_fields__:
        one, other = getattr(before.settings, field), getattr(after.settings, field)
        if one != other:
            raise InputRefusal(
                f"--against: settings.{field}",
                f"is {one!r} before and {other!r} after",
                "measure both sides with the same options",
            )
    ranks = [sorted((-1 if d.rank is None else d.rank) for d in side.devices) for side in (before, after)]
    if ranks[0] != ranks[1] or before.missing.world != after.missing.world:
        raise InputRefusal(
            "--against",
            f"the ranks differ: {ranks[0]} of {before.missing.world} before, {ranks[1]} of {after.missing.world} after",
            "give the profiles of the same ranks",
        )


def _program(before: Overlap, after: Overlap) -> str:
    """Equal, or regrouped: the same bytes per kind and group in other calls."""
    if not before.payload or not after.payload:
        kernels = [_per_step(side, {row.name: row.kernels for row in _kinds(side)}) for side in (before, after)]
        _check_equal("communication kernels", kernels)
        return "equal numbers of communication kernels; no calls were read"
    _check_equal("bytes", [_per_step(side, _volume(side, lambda row: row.bytes_total)) for side in (before, after)])
    calls = [_per_step(side, _volume(side, lambda row: row.calls)) for side in (before, after)]
    return "equal" if calls[0] == calls[1] else "regrouped"


def _kinds(side: Overlap) -> list[Share]:
    return [row for device in side.devices for row in device.kinds]


def _volume(side: Overlap, of: Callable[[Payload], int]) -> dict[str, int]:
    volume: Counter[str] = Counter()
    for row in side.payload:
        volume[f"{row.kind} of {'/'.join(row.dtypes)} on {row.group_ranks} ranks"] += of(row)
    return volume


def _per_step(side: Overlap, volume: dict[str, int]) -> dict[str, Fraction]:
    return {what: Fraction(count, max(1, len(side.steps))) for what, count in volume.items()}


def _check_equal(what: str, sides: list[dict[str, Fraction]]) -> None:
    before, after = sides
    for name in sorted(before.keys() | after.keys()):
        one, other = before.get(name, Fraction(0)), after.get(name, Fraction(0))
        if one != other:
            raise InputRefusal(
                "--against",
                f"these are different programs: {name} has {float(one):g} {what} per step before "
                f"and {float(other):g} after",
                "compare profiles of the same job with the same shapes",
            )
