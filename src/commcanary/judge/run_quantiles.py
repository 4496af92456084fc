"""Quantiles of pooled runs, for thousands of resamples of whole runs at once.

A resample draws whole runs with repetition, so it is a vector of weights, one per run. The pooled values
are sorted once; a resample's order statistic is found by counting weights through blocks of the sorted
values, then through one block.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class RunQuantiles:
    """The values of ``runs`` (float64[runs, k], k > 0), ready for weighted quantiles."""

    def __init__(self, runs: NDArray[np.float64]) -> None:
        count, per_run = runs.shape
        self.total = count * per_run
        flat = runs.ravel()
        order = np.argsort(flat, kind="stable")
        self.ordered = flat[order]
        run_of = order // per_run
        self.size = max(1, math.isqrt(self.total))
        blocks = -(-self.total // self.size)
        self.run_of = np.full((blocks, self.size), count, np.int64)  # run ``count`` pads, with weight 0
        self.run_of.ravel()[: self.total] = run_of
        self.per_block = np.zeros((count, blocks), np.float64)
        np.add.at(self.per_block, (run_of, np.arange(self.total) // self.size), 1.0)

    def quantiles(self, weights: NDArray[np.int64], percents: Sequence[float]) -> NDArray[np.float64]:
        """float64[len(percents), resamples] of ``weights``, int64[resamples, runs], each row adding up to runs."""
        reached: NDArray[np.float64] = np.cumsum(weights.astype(np.float64) @ self.per_block, axis=1)
        padded = np.concatenate([weights, np.zeros((len(weights), 1), np.int64)], axis=1)
        found = []
        for percent in percents:
            t = (self.total - 1) * percent / 100
            low, high = math.floor(t), math.ceil(t)
            value = self._order_statistic(reached, padded, low)
            if high > low:
                w = t - low
                value = value * (1 - w) + self._order_statistic(reached, padded, high) * w
            found.append(value)
        return np.stack(found)

    def _order_statistic(
        self, reached: NDArray[np.float64], padded: NDArray[np.int64], rank: int
    ) -> NDArray[np.float64]:
        block = (reached <= rank).sum(axis=1)
        rows = np.arange(len(padded))
        before = np.where(block > 0, reached[rows, np.maximum(block - 1, 0)], 0.0)
        within = np.cumsum(padded[rows[:, None], self.run_of[block]], axis=1) + before[:, None]
        position = block * self.size + (within <= rank).sum(axis=1)
        return np.asarray(self.ordered[position], dtype=np.float64)
