"""The alpha-beta law of a collective: time = startup + bytes / bandwidth, fitted to measurements.

The fit minimises the sum of squared *relative* residuals (t - predicted) / t, so that a 35 us message counts
as much as one of 30 ms: weighted linear least squares with weights 1 / t. The intervals are Student's t
intervals of that regression with n - 2 degrees of freedom. They presume that the law holds and residuals
scatter; where the largest residuals are systematic, the law does not fit and the residuals say so.
"""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

import msgspec

from commcanary.errors import InputRefusal
from commcanary.units import r3, r9

if TYPE_CHECKING:
    from collections.abc import Sequence

BYTES_PER_US_IN_GB_S = 1000.0
"""1 GB/s (1e9) is 1,000 bytes per us."""


class AlphaBeta(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Startup in us, and bandwidth in GB/s (1e9 bytes/s) of payload bytes."""

    startup_us: float
    bandwidth_gb_s: float

    def time_us(self, size: int) -> float:
        """Predicted time of a collective of ``size`` bytes alone on the machine, us."""
        return self.startup_us + size / (self.bandwidth_gb_s * BYTES_PER_US_IN_GB_S)


class Residual(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One fitted size: best measured time, predicted time, and (measured - predicted) / measured in percent."""

    bytes: int
    repetitions: int
    measured_us: float
    predicted_us: float
    residual_pct: float


class AlphaBetaFit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fitted law with its evidence. Intervals are [low, high] at ``level``; null with a reason where unknown.

    The upper end of the bandwidth's interval is null where the data do not bound it.
    """

    law: AlphaBeta
    level: float
    startup_interval_us: tuple[float, float] | None
    bandwidth_interval_gb_s: tuple[float, float | None] | None
    interval_unknown: str | None
    median_residual_pct: float
    largest_residual_pct: float
    residuals: tuple[Residual, ...]


def best_times(sizes: Sequence[int], times_us: Sequence[float]) -> list[tuple[int, int, float]]:
    """(size, repetitions, smallest time) for each distinct size, in ascending order of size."""
    seen: dict[int, list[float]] = {}
    for size, time in zip(sizes, times_us, strict=True):
        seen.setdefault(size, []).append(time)
    return [(size, len(times), min(times)) for size, times in sorted(seen.items())]


def fit_alpha_beta(sizes: Sequence[int], times_us: Sequence[float], level: float = 0.95) -> AlphaBetaFit:
    """Fit startup and bandwidth to measured (bytes, us) pairs; of equal sizes the fastest one counts.

    Raises ``InputRefusal`` for fewer than two sizes, times that do not grow with the bytes, and a startup
    below zero: from such data one of the two numbers does not follow.
    """
    points = best_times(sizes, times_us)
    if len(points) < 2:
        raise InputRefusal(
            "sizes",
            f"{len(points)} distinct size(s) measured; startup and bandwidth need two or more",
            "measure more sizes, or widen --min-bytes and --max-bytes",
        )
    scale = float(points[-1][0])
    rows = [(1 / time, size / scale / time) for size, _, time in points]
    sums = _Sums(rows)
    startup, slope = sums.solution()
    if slope <= 0:
        raise InputRefusal(
            "times", f"do not grow from {points[0][0]} to {points[-1][0]} bytes", "measure larger sizes as well"
        )
    if startup < 0:
        raise InputRefusal(
            "startup", f"comes out as {startup:.3f} us", "measure smaller sizes as well: large ones hide the startup"
        )
    law = AlphaBeta(startup, scale / slope / BYTES_PER_US_IN_GB_S)
    relative = [1 - startup * x - slope * y for x, y in rows]
    startup_interval, bandwidth_interval = _intervals(sums, (startup, slope), relative, level, scale)
    off = sorted(100 * abs(r) for r in relative)
    return AlphaBetaFit(
        law,
        level,
        startup_interval,
        bandwidth_interval,
        "two sizes determine both numbers and leave nothing to judge them by" if len(points) == 2 else None,
        r3(median(off)),
        r3(off[-1]),
        tuple(
            Residual(b, n, t, r3(law.time_us(b)), r3(100 * r)) for (b, n, t), r in zip(points, relative, strict=True)
        ),
    )


class _Sums:
    """Exactly rounded sums of the regression of 1 on two columns: the same bits on every machine."""

    def __init__(self, rows: Sequence[tuple[float, float]]) -> None:
        self.xx = math.fsum(x * x for x, _ in rows)
        self.xy = math.fsum(x * y for x, y in rows)
        self.yy = math.fsum(y * y for _, y in rows)
        self.x = math.fsum(x for x, _ in rows)
        self.y = math.fsum(y for _, y in rows)
        self.determinant = self.xx * self.yy - self.xy * self.xy

    def solution(self) -> tuple[float, float]:
        """The two coefficients."""
        first = (self.yy * self.x - self.xy * self.y) / self.determinant
        return first, (self.xx * self.y - self.xy * self.x) / self.determinant

    def deviations(self, variance: float) -> tuple[float, float]:
        """Standard errors of the two coefficients at a residual ``variance``."""
        scale = variance / self.determinant
        return math.sqrt(self.yy * scale), math.sqrt(self.xx * scale)


def _intervals(
    sums: _Sums, found: tuple[float, float], relative: Sequence[float], level: float, scale: float
) -> tuple[tuple[float, float] | None, tuple[float, float | None] | None]:
    freedom = len(relative) - 2
    if freedom == 0:
        return None, None
    from scipy import stats

    quantile = float(stats.t.ppf((1 + level) / 2, freedom))
    half = [quantile * error for error in sums.deviations(math.fsum(r * r for r in relative) / freedom)]
    startup = (r9(found[0] - half[0]), r9(found[0] + half[0]))
    fast, slow = found[1] - half[1], found[1] + half[1]
    bandwidth = scale / BYTES_PER_US_IN_GB_S
    return startup, (r9(bandwidth / slow), r9(bandwidth / fast) if fast > 0 else None)
