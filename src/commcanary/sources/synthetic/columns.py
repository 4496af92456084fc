"""Drawing the columns of a synthetic trace: log-normal times with rare tails, in whole nanoseconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.events import UNKNOWN, Events, ProcessGroup, Ragged, Signature
from commcanary.artifacts.trace import Trace, TraceHeader
from commcanary.units import NS_PER_US

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

TAIL_SHARE = 0.01
"""Share of the events that are stretched into the tail."""


def whole_ns(us: NDArray[np.float64]) -> NDArray[np.int64]:
    """Whole ns of times in us."""
    return np.rint(us * NS_PER_US).astype(np.int64)


def lognormal_us(rng: np.random.Generator, median_us: NDArray[np.float64], spread: float) -> NDArray[np.float64]:
    """Log-normal times around ``median_us``; ``spread`` is the standard deviation of the logarithm."""
    return median_us * np.exp(rng.normal(0.0, spread, len(median_us)))


def tails(rng: np.random.Generator, count: int) -> NDArray[np.bool_]:
    """bool[count]: True for the events in the tail, about ``TAIL_SHARE`` of them."""
    return rng.random(count) < TAIL_SHARE


def offsets(rng: np.random.Generator, sizes: NDArray[np.int64], scale_us: NDArray[np.float64]) -> Ragged:
    """Arrival offsets, independent per rank and exponential with mean ``scale_us``, from the first arrival."""
    bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    arrival = whole_ns(rng.exponential(1.0, int(bounds[-1])) * np.repeat(scale_us, sizes))
    first = np.minimum.reduceat(arrival, bounds[:-1])
    return Ragged(arrival - np.repeat(first, sizes), bounds, np.ones(len(sizes), np.bool_))


def synthetic_trace(
    name: str,
    seed: int,
    groups: Sequence[ProcessGroup],
    signatures: Sequence[Signature],
    signature: NDArray[np.int32],
    *,
    compute_before_us: NDArray[np.float64],
    offsets_ns: Ragged,
    compute_overlap_us: NDArray[np.float64],
    compute_pressure: NDArray[np.float64],
    busy_us: NDArray[np.float64],
) -> Trace:
    """A trace of ``signature`` (int32[n]) whose gaps are the compute before an event plus what its
    predecessor kept the rank busy for (``busy_us``, float64[n]).
    """
    count = len(signature)
    gap = compute_before_us + np.concatenate([[0.0], busy_us[:-1]])
    gap[0] = 0.0
    events = Events(
        groups=tuple(groups),
        signatures=tuple(signatures),
        signature=signature.astype(np.int32),
        gap_ns=whole_ns(gap),
        offsets_ns=offsets_ns,
        compute_before_ns=whole_ns(compute_before_us),
        rank_compute_before_ns=Ragged.unknown(count),
        compute_overlap_ns=whole_ns(compute_overlap_us),
        compute_pressure=compute_pressure,
        observed_exposed_ns=np.full(count, UNKNOWN, np.int64),
        message_sequence=np.full(count, UNKNOWN, np.int64),
        consumer=np.full(count, UNKNOWN, np.int64),
        compute_uncertain=np.zeros(count, np.bool_),
    )
    workload = {"name": name, "notes": f"synthetic, seed {seed}: made by rule, not measured"}
    return Trace.of(TraceHeader(workload=workload, system={"kind": "synthetic"}), events)


def known_trace(
    name: str,
    notes: str,
    groups: Sequence[ProcessGroup],
    signatures: Sequence[Signature],
    signature: NDArray[np.int64],
    *,
    start_ns: NDArray[np.int64],
    rank_compute_before_ns: Sequence[Sequence[int]],
    consumer: NDArray[np.int64],
    message_sequence: NDArray[np.int64],
) -> Trace:
    """A trace whose every rank's compute is known; its declared arrivals are the starts, at all ranks at once.

    No compute runs beside an event of its own (what is consumed later is overlapped by what comes between), and
    none presses on it.
    """
    count = len(signature)
    sizes = np.array([groups[s.group].size for s in signatures], np.int64)[signature]
    bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    events = Events(
        groups=tuple(groups),
        signatures=tuple(signatures),
        signature=signature.astype(np.int32),
        gap_ns=np.diff(start_ns, prepend=start_ns[:1]),
        offsets_ns=Ragged(np.zeros(int(bounds[-1]), np.int64), bounds, np.ones(count, np.bool_)),
        compute_before_ns=np.array([min(ranks) for ranks in rank_compute_before_ns], np.int64),
        rank_compute_before_ns=Ragged.of(rank_compute_before_ns),
        compute_overlap_ns=np.zeros(count, np.int64),
        compute_pressure=np.zeros(count, np.float64),
        observed_exposed_ns=np.full(count, UNKNOWN, np.int64),
        message_sequence=message_sequence,
        consumer=consumer,
        compute_uncertain=np.zeros(count, np.bool_),
    )
    workload = {"name": name, "notes": notes}
    return Trace.of(TraceHeader(workload=workload, system={"kind": "synthetic"}), events)
