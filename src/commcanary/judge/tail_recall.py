"""Does the canary slow down the same events as the source does?

Over the whole run, and within windows of equal event count, the smallest counting: on a queue that only
grows, "the late events are slow" would recall itself.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from commcanary.judge.behavior import TailRecall
from commcanary.replay.metrics import sorted_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

PERCENTILES = (95, 99)
WINDOWS = 8


class SourceTails:
    """The slow events of a source, found once. ``exposed_us`` is float64[runs, events]."""

    def __init__(self, exposed_us: NDArray[np.float64]) -> None:
        self.shape = exposed_us.shape
        events = exposed_us.shape[1]
        cuts = [events * i // WINDOWS for i in range(WINDOWS + 1)]
        self.spans = [(0, events), *((a, b) for a, b in pairwise(cuts) if b > a)]
        self.tails = []
        for low, high in self.spans:
            part = exposed_us[:, low:high].ravel()
            ordered = np.sort(part)
            self.tails.append([part >= sorted_quantile(ordered, p) for p in PERCENTILES])

    def recall(self, exposed_us: NDArray[np.float64], required: float) -> tuple[TailRecall, ...]:
        """How much of them the canary's ``exposed_us`` (float64[runs, events]) finds."""
        if exposed_us.shape != self.shape:
            return tuple(TailRecall(p, "fail", None, (), None, required) for p in PERCENTILES)
        shares = []
        for (low, high), tails in zip(self.spans, self.tails, strict=True):
            slowest = np.argsort(-exposed_us[:, low:high].ravel(), kind="stable")  # ties by index
            shares.append([float(tail[slowest[: tail.sum()]].mean()) for tail in tails])
        found = []
        for number, percentile in enumerate(PERCENTILES):
            whole, *windows = (round(share[number], 6) for share in shares)
            smallest = min([whole, *windows])
            status = "pass" if smallest >= required else "fail"
            found.append(TailRecall(percentile, status, whole, tuple(windows), smallest, required))
        return tuple(found)
