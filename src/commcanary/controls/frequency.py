"""Control ``frequency``: every event becomes the medoid of its shape group. Right mix, no variation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.controls.medoid import medoid
from commcanary.controls.shapes import compared, features, shape_groups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.artifacts.events import Events


def select(events: Events) -> NDArray[np.int64]:
    """int64[n]: the source event that stands in each position."""
    table = features(events)
    chosen = np.arange(len(events), dtype=np.int64)
    for members in shape_groups(events):
        if len(members) > 1:
            chosen[members] = members[medoid(*compared(table[members]))]
    return chosen
