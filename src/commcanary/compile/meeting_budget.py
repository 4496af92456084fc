"""Which setting would meet a budget that the asked one does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.compile.fidelity import ERROR_FIELDS, fidelity
from commcanary.compile.records import replayed
from commcanary.units import NS_PER_US

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commcanary.artifacts.canary import Fidelity
    from commcanary.artifacts.events import Events

WITHIN_A_QUANTUM = "max_gap_error_us"
"""The one error that snapping bounds by a whole quantum; every other time stays within half of one."""


def meeting_settings(events: Events, sample_limit: int | None, budget: Mapping[str, float]) -> str:
    """The remedy of a budget refusal: the smallest doubling of ``sample_limit`` (where one was asked for) and
    the largest grid that keep within ``budget``, and the codec that always does.
    """
    found = []
    if sample_limit is not None:
        limit = sufficient_limit(events, sample_limit, budget)
        if limit is not None:
            found.append(f"--timing-sample-limit {limit}")
    quantum_ns = sufficient_quantum_ns(budget)
    if quantum_ns:
        found.append(f"--quantum-us {quantum_ns / NS_PER_US:g}")
    if not found:
        return "only --lossless-timing meets it"
    return f"{' or '.join(found)} would meet it, --lossless-timing always does"


def sufficient_limit(events: Events, sample_limit: int, budget: Mapping[str, float]) -> int | None:
    """The smallest doubling of ``sample_limit`` whose segments keep within ``budget``; None where only as many
    records as events would.
    """
    from commcanary.compile.segments import longest_group, segmented

    longest = longest_group(events)
    limit = 2 * sample_limit
    while limit < longest:
        if within(fidelity(events, replayed(segmented(events, limit))), budget):
            return limit
        limit *= 2
    return None


def sufficient_quantum_ns(budget: Mapping[str, float]) -> int:
    """The largest grid in ns that keeps within ``budget`` whatever the trace; 0 where there is none."""
    times = {name: us for name, us in budget.items() if name != "max_pressure_error"}
    allowed = (us if name == WITHIN_A_QUANTUM else 2 * us for name, us in times.items())
    return int(np.floor(round(min(allowed, default=0.0) * NS_PER_US, 6)))


def within(achieved: Fidelity, budget: Mapping[str, float]) -> bool:
    """Does every field of ``budget`` hold?"""
    return all(getattr(achieved, name) <= budget[name] for name in ERROR_FIELDS if name in budget)
