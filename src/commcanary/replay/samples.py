"""Samples: what a replay returns, one value per seed, iteration and event."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from commcanary.errors import BudgetRefusal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from commcanary.replay.schedule import Schedule


MOST_SAMPLES = 50_000_000
"""Of one replay under one configuration; with table and summaries they take 4.5 GB (measured: 90 bytes each)."""


def check_sample_count(events: int, runs: int) -> None:
    """Raise ``BudgetRefusal`` where ``runs`` replays of ``events`` events would not fit any memory."""
    if events * runs > MOST_SAMPLES:
        raise BudgetRefusal(
            "",
            f"{events:,} events in {runs:,} runs (seeds x iterations) are {events * runs:,} samples, "
            f"more than {MOST_SAMPLES:,}",
            f"give at most {MOST_SAMPLES // events:,} runs",
        )


@dataclass(frozen=True, slots=True)
class Samples:
    """Columns of seeds * iterations * n values in microseconds: seed-major, then iteration, then event.

    Events stand in the replayed order, which is program order unless ``operation_ordering`` is ablated
    (``ordering.replayed_order``). All float64:

    ``exposed_us``    the latency that every quantile is about
    ``total_us``      first arrival to completion; ``total_us - exposed_us`` is hidden
    ``queue_wait_us`` last arrival to start
    ``skew_us``       last arrival minus first
    ``rank_wait_us``  skew minus the mean arrival offset: what a rank waits for the last one on average

    ``schedule`` is what a closed-loop run says beside them; scheduler-v4 has none.
    """

    exposed_us: NDArray[np.float64]
    total_us: NDArray[np.float64]
    queue_wait_us: NDArray[np.float64]
    skew_us: NDArray[np.float64]
    rank_wait_us: NDArray[np.float64]
    schedule: Schedule | None = field(default=None, kw_only=True)

    def __len__(self) -> int:
        return len(self.exposed_us)
