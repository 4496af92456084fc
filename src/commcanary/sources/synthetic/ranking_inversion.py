"""The ranking-inversion scaffold: a workload that an isolated benchmark gets wrong.

100 small all-reduces in a row. Five of them arrive with a large skew under long compute, and the event
after each comes late. Alone, the collective prefers the lower latency floor; in the workload, where the
five block the queue, the configuration that hides communication under compute wins.
"""

from __future__ import annotations

import numpy as np

from commcanary.artifacts.events import UNKNOWN, Events, ProcessGroup, Ragged, Signature
from commcanary.artifacts.trace import Trace, TraceHeader
from commcanary.replay.configuration import Configuration
from commcanary.units import NS_PER_US

EVENTS = 100
LATE = (10, 30, 50, 70, 90)
"""Indices of the events with skew and overlap; the event after each follows a long gap."""

CONFIGURATIONS = (
    Configuration(name="isolated-fast-no-overlap", latency_floor_us=7.0, overlap_efficiency=0.0),
    Configuration(name="workload-overlap-friendly", latency_floor_us=8.0, overlap_efficiency=1.0),
)
"""The two that the isolated collective and the whole workload rank in opposite order (seed 1)."""

SEED = 1


def ranking_inversion() -> Trace:
    """The scaffold's trace, times in whole us."""
    late = np.isin(np.arange(EVENTS), LATE)
    after = np.roll(late, 1)
    offsets = np.zeros((EVENTS, 2), np.int64)
    offsets[late, 1] = 500 * NS_PER_US
    events = Events(
        groups=(ProcessGroup("tp", 2),),
        signatures=(Signature(op="all_reduce", bytes=1024, group=0, phase="decode"),),
        signature=np.zeros(EVENTS, np.int32),
        gap_ns=np.where(after, 500, 1).astype(np.int64) * NS_PER_US,
        offsets_ns=Ragged(
            offsets.reshape(-1), np.arange(0, 2 * EVENTS + 1, 2, dtype=np.int64), np.ones(EVENTS, np.bool_)
        ),
        compute_before_ns=np.full(EVENTS, UNKNOWN, np.int64),
        rank_compute_before_ns=Ragged.unknown(EVENTS),
        compute_overlap_ns=np.where(late, 10_000, 0).astype(np.int64) * NS_PER_US,
        compute_pressure=np.where(late, 1.0, 0.5),
        observed_exposed_ns=np.full(EVENTS, UNKNOWN, np.int64),
        message_sequence=np.full(EVENTS, UNKNOWN, np.int64),
        consumer=np.full(EVENTS, UNKNOWN, np.int64),
        compute_uncertain=np.zeros(EVENTS, np.bool_),
    )
    workload = {"name": "ranking-inversion", "notes": "a scaffold made by rule, not measured"}
    return Trace.of(TraceHeader(workload=workload, system={"kind": "synthetic"}), events)
