"""Moving event times, offsets and durations to a grid, so that no error grows with the trace."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.events import UNKNOWN, Events, Ragged

if TYPE_CHECKING:
    from numpy.typing import NDArray


def snapped(events: Events, quantum_ns: int) -> Events:
    """The events on a grid of ``quantum_ns``.

    Event times (sums of gaps) move by at most half a quantum wherever they stand, gaps therefore by at
    most one; offsets and durations by at most half. Unknown values stay unknown.
    """
    times = _to_grid(np.cumsum(events.gap_ns), quantum_ns)
    return replace(
        events,
        gap_ns=np.diff(times, prepend=0),
        offsets_ns=_ragged(events.offsets_ns, quantum_ns),
        compute_before_ns=_known(events.compute_before_ns, quantum_ns),
        rank_compute_before_ns=_ragged(events.rank_compute_before_ns, quantum_ns),
        compute_overlap_ns=_known(events.compute_overlap_ns, quantum_ns),
        observed_exposed_ns=_known(events.observed_exposed_ns, quantum_ns),
    )


def _to_grid(times: NDArray[np.int64], quantum_ns: int) -> NDArray[np.int64]:
    return (times + quantum_ns // 2) // quantum_ns * quantum_ns


def _known(times: NDArray[np.int64], quantum_ns: int) -> NDArray[np.int64]:
    return np.where(times == UNKNOWN, UNKNOWN, _to_grid(times, quantum_ns))


def _ragged(ragged: Ragged, quantum_ns: int) -> Ragged:
    return Ragged(_to_grid(ragged.values, quantum_ns), ragged.bounds, ragged.known)
