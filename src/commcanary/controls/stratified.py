"""Control ``stratified``: per shape group, strata of equal count by exposed latency, one draw each."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from commcanary.controls.shapes import shape_groups
from commcanary.errors import InputRefusal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.artifacts.events import Events


def select(events: Events, strata_per_group: int, seed: int, exposed_us: NDArray[np.float64]) -> NDArray[np.int64]:
    """int64[n]: the source event that stands in each position.

    ``exposed_us`` is float64[n], the exposed latency of every event in the reference replay. Strata are cut
    at ``len * i // strata`` in order of (exposed latency, index), drawn from the fastest up, groups in order
    of first appearance.
    """
    if len(exposed_us) != len(events):
        raise InputRefusal(
            "exposed_us",
            f"has {len(exposed_us)} values for {len(events)} events",
            "give the exposed latencies of one reference run",
        )
    generator = random.Random(seed)
    chosen = np.arange(len(events), dtype=np.int64)
    for members in shape_groups(events):
        ranked = members[np.argsort(exposed_us[members], kind="stable")]
        cuts = [len(ranked) * i // strata_per_group for i in range(strata_per_group + 1)]
        for low, high in pairwise(cuts):
            if high > low:
                chosen[ranked[low:high]] = ranked[low + generator.randrange(high - low)]
    return chosen
