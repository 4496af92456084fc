"""Arithmetic of a study of three runs: distributions, slowdowns, and the equation between them.

Compute alone (A), communication alone (B), and both at once (C). Of C every moment is compute only,
communication only, both, or idle, and these four are its length. With compute(C) = only + both and
communication(C) = only + both, that length is also

    compute(A) + [compute(C) - compute(A)] + communication(B) + [communication(C) - communication(B)] - both + idle(C)

so the gain over A followed by B is ``both`` less both slowdowns, plus the idle time that went away. ``both``
is measured once, on C: no moment counts as hidden for compute and again for communication.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from commcanary.units import r3, us_from_ns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commcanary.timeline.step_parts import StepParts


class Distribution(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of ``count`` values: nearest-rank quantiles, so that each is a value that was measured."""

    count: int
    min: float
    p10: float
    median: float
    p90: float
    max: float


def distribution(values: Sequence[float]) -> Distribution:
    """Nearest-rank quantiles of one value or more; the median of an even count is the lower middle."""
    ordered = sorted(values)
    return Distribution(len(ordered), *(r3(ordered[_rank(len(ordered), tenth)]) for tenth in (0, 1, 5, 9, 10)))


def _rank(count: int, tenth: int) -> int:
    return max(0, -(-count * tenth // 10) - 1)


class Slowdown(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One side of the overlap, us a step: alone, beside the other, and the ratio of the latter to the alone median.

    ``ratio`` is null where the median alone is 0.
    """

    alone_us: Distribution
    overlapped_us: Distribution
    ratio: Distribution | None


def slowdown(alone: Sequence[int], overlapped: Sequence[int]) -> Slowdown:
    """The slowdown of one side from its ns per step."""
    middle = sorted(alone)[_rank(len(alone), 5)]
    ratios = None if middle == 0 else distribution([value / middle for value in overlapped])
    return Slowdown(_us(alone), _us(overlapped), ratios)


def _us(values: Sequence[int]) -> Distribution:
    return distribution([us_from_ns(value) for value in values])


class Equation(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The segment before and after, in ns of the median step of each run; every sum is exact.

    ``before`` = ``compute_alone`` + ``idle_compute_alone`` + ``communication_alone`` + ``idle_communication_alone``;
    ``after`` = ``compute_alone`` + ``compute_slowdown`` + ``exposed`` + ``idle``;
    ``gain`` = ``before`` - ``after`` = ``hidden`` - ``compute_slowdown`` - ``communication_slowdown`` + ``idle_gone``.
    ``after`` also is ``compute_only`` + ``exposed`` + ``hidden`` + ``idle``.
    """

    compute_alone: int
    idle_compute_alone: int
    communication_alone: int
    idle_communication_alone: int
    before: int
    compute_only: int
    exposed: int
    hidden: int
    idle: int
    after: int
    compute_slowdown: int
    communication_slowdown: int
    idle_gone: int
    gain: int
    promised: int
    """The gain if everything shorter hid behind everything longer and nothing slowed down."""
    steps: tuple[str, str, str]


def median_step(steps: Sequence[StepParts]) -> StepParts:
    """The step of median length (the lower middle, the earlier of equal ones)."""
    ordered = sorted(range(len(steps)), key=lambda index: steps[index].span)
    return steps[ordered[_rank(len(steps), 5)]]


def equation(compute: StepParts, communication: StepParts, overlapped: StepParts) -> Equation:
    """The equation of three measured steps."""
    before = compute.span + communication.span
    idle = (compute.idle, communication.idle)
    return Equation(
        compute_alone=compute.compute,
        idle_compute_alone=idle[0],
        communication_alone=communication.communication,
        idle_communication_alone=idle[1],
        before=before,
        compute_only=overlapped.compute_only,
        exposed=overlapped.communication_only,
        hidden=overlapped.both,
        idle=overlapped.idle,
        after=overlapped.span,
        compute_slowdown=overlapped.compute - compute.compute,
        communication_slowdown=overlapped.communication - communication.communication,
        idle_gone=sum(idle) - overlapped.idle,
        gain=before - overlapped.span,
        promised=min(compute.compute, communication.communication),
        steps=(compute.name, communication.name, overlapped.name),
    )
