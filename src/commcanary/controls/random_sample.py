"""Control ``random``: a few events drawn without replacement, tiled to the length of the source."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.artifacts.events import Events


def select(events: Events, sample_count: int, seed: int) -> NDArray[np.int64]:
    """int64[n]: ``sample_count`` distinct events (all, where there are fewer) in program order, repeated."""
    count = len(events)
    drawn = sorted(random.Random(seed).sample(range(count), min(sample_count, count)))
    return np.resize(np.array(drawn, dtype=np.int64), count)
