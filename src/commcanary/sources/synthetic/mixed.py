"""The benchmark's trace: nothing repeats. Operations change at almost every event over three groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.events import ProcessGroup, Signature
from commcanary.sources.synthetic.columns import lognormal_us, offsets, synthetic_trace, tails

if TYPE_CHECKING:
    from commcanary.artifacts.trace import Trace

_GROUPS = (
    ProcessGroup("tensor", 8),
    ProcessGroup("expert", (0, 2, 4, 6)),
    ProcessGroup("data", (0, 4)),
)
_OPS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")
_SIZES = (16_384, 131_072, 1_048_576)
_PHASES = ("forward", "backward")


def mixed(seed: int, events: int = 1000) -> Trace:
    """``events`` collectives of 72 kinds in random order: log-normal gaps, independent per-rank offsets,
    overlap on half of them, 1 % tails (arrivals 20 times as late).
    """
    rng = np.random.default_rng(seed)
    signatures = [
        Signature(op=op, bytes=size, group=group, phase=phase, dtype="bfloat16")
        for op in _OPS
        for size in _SIZES
        for group in range(len(_GROUPS))
        for phase in _PHASES
    ]
    signature = rng.integers(0, len(signatures), events).astype(np.int32)
    members = np.array([_GROUPS[s.group].size for s in signatures], np.int64)
    late = tails(rng, events)
    return synthetic_trace(
        "mixed",
        seed,
        _GROUPS,
        signatures,
        signature,
        compute_before_us=lognormal_us(rng, np.full(events, 60.0), 0.6),
        offsets_ns=offsets(rng, members[signature], np.where(late, 60.0, 3.0)),
        compute_overlap_us=np.where(rng.random(events) < 0.5, lognormal_us(rng, np.full(events, 25.0), 0.5), 0.0),
        compute_pressure=np.where(late, 0.9, 0.5),
        busy_us=np.full(events, 250.0),
    )
