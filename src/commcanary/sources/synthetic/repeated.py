"""A trace several times over: what a model makes of length alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from commcanary.artifacts.trace import Trace


def repeated(trace: Trace, times: int) -> Trace:
    """``trace`` ``times`` times in a row, each copy with its own consumers, a mean gap apart."""
    if times == 1:
        return trace
    events, count = trace.events, len(trace)
    copy = np.repeat(np.arange(times, dtype=np.int64), count)
    many = events.take(np.tile(np.arange(count, dtype=np.int64), times))
    consumer = np.tile(events.consumer, times)
    gap = np.tile(events.gap_ns, times)
    gap[count::count] = int(events.gap_ns.sum()) // max(1, count - 1)
    return Trace.of(
        trace.header,
        replace(many, gap_ns=gap, consumer=np.where(consumer >= 0, consumer + copy * count, consumer)),
    )
