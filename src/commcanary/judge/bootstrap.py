"""Percentile-bootstrap intervals of differences between two reports, resampling whole runs.

A run is one (seed, iteration). Events within a run queue behind each other, so single events are never
resampled. Where both sides ran the same seeds the same runs are drawn on both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.judge.comparison import Interval
from commcanary.judge.run_quantiles import RunQuantiles
from commcanary.units import r3

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

RESAMPLES = 2000
BOOTSTRAP_SEED = 20_240_501
"""Recorded in every comparison that used it."""

PERCENTS = {"median": 50.0, "p95": 95.0, "p99": 99.0}


class RunBootstrap:
    """Resamples of two sides with ``baseline_runs`` and ``candidate_runs`` whole runs each."""

    def __init__(self, baseline_runs: int, candidate_runs: int, *, paired: bool, level: float) -> None:
        self.runs = (baseline_runs, candidate_runs)
        self.paired = paired
        self.level = level

    def latency_intervals(
        self,
        baseline: NDArray[np.float64],
        candidate: NDArray[np.float64],
        thresholds: dict[str, tuple[float, float]],
    ) -> dict[str, Interval]:
        """The interval of every statistic in ``thresholds`` (name -> percent, us).

        ``baseline`` and ``candidate`` are exposed latencies, float64[runs, events].
        """
        names = tuple(thresholds)
        percents = [PERCENTS[name] for name in names]
        before, after = RunQuantiles(baseline), RunQuantiles(candidate)
        share = np.array([thresholds[name][0] for name in names])[:, None] / 100
        floor = np.array([thresholds[name][1] for name in names])[:, None]

        def statistic(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
            base = before.quantiles(left, percents)
            delta = after.quantiles(right, percents) - base
            with np.errstate(divide="ignore", invalid="ignore"):
                relative = np.where(base > 0, 100 * delta / base, np.nan)
            return np.stack([delta, relative, delta - np.maximum(floor, share * base)])

        low, high = self._interval(statistic)
        return {
            name: Interval(
                r3(low[0, i]),
                r3(high[0, i]),
                _finite(low[1, i]),
                _finite(high[1, i]),
                r3(low[2, i]),
                r3(high[2, i]),
            )
            for i, name in enumerate(names)
        }

    def hidden_interval(
        self,
        baseline: tuple[NDArray[np.float64], NDArray[np.float64]],
        candidate: tuple[NDArray[np.float64], NDArray[np.float64]],
        points: float,
    ) -> Interval:
        """The interval of the hidden share in points; each side gives hidden and total us per run."""

        def share(
            weights: NDArray[np.int64], side: tuple[NDArray[np.float64], NDArray[np.float64]]
        ) -> NDArray[np.float64]:
            total = weights @ side[1]
            return np.where(total > 0, 100 * (weights @ side[0]) / np.where(total > 0, total, 1.0), 0.0)

        def statistic(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
            delta = share(right, candidate) - share(left, baseline)
            return np.stack([delta, -delta - points])

        low, high = self._interval(statistic)
        return Interval(r3(low[0]), r3(high[0]), None, None, r3(low[1]), r3(high[1]))

    def _interval(
        self, statistic: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Low and high end of every component of ``statistic`` (weights of both sides -> [..., resamples])."""
        from scipy.stats import bootstrap  # heavy: only where intervals are asked for

        count, other = self.runs

        def of_drawn(*drawn: NDArray[np.int64], axis: int = -1) -> NDArray[np.float64]:
            left = _weights(drawn[0], count)
            return statistic(left, left if self.paired else _weights(drawn[1], other))

        runs = [np.arange(count)] if self.paired else [np.arange(count), np.arange(other)]
        result = bootstrap(
            runs,
            of_drawn,
            n_resamples=RESAMPLES,
            vectorized=True,
            axis=-1,
            confidence_level=self.level,
            method="percentile",
            rng=np.random.default_rng(BOOTSTRAP_SEED),
        )
        return np.asarray(result.confidence_interval.low), np.asarray(result.confidence_interval.high)


def _weights(drawn: NDArray[np.int64], runs: int) -> NDArray[np.int64]:
    """int64[resamples, runs]: how often each run was drawn; ``drawn`` is [resamples, runs] or one resample."""
    rows = np.atleast_2d(drawn)
    flat = rows + runs * np.arange(len(rows))[:, None]
    return np.bincount(flat.ravel(), minlength=runs * len(rows)).reshape(len(rows), runs)


def _finite(value: float) -> float | None:
    return r3(value) if np.isfinite(value) else None
