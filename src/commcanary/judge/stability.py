"""Whether the runs of one report agree with each other at all.

A median over runs that sit in two modes describes neither. So instability is an outcome of its own, never a
quiet pass or fail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.judge.comparison import Stability
from commcanary.judge.dip import dip, dip_p_value
from commcanary.replay.metrics import sorted_quantile
from commcanary.units import r3

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.judge.thresholds import Thresholds

STABLE, UNSTABLE, BIMODAL = "stable", "unstable", "bimodal"

FEWEST_RUNS = 10
"""Below this many runs neither spread nor intervals are judged."""


def stability(side: str, exposed_us: NDArray[np.float64], thresholds: Thresholds) -> Stability:
    """How the median of ``exposed_us`` (float64[runs, events]) moves from run to run."""
    medians = np.sort(np.median(exposed_us, axis=1))
    iqr = _spread_pct(medians, 25, 75)
    found, p_value, outcome = None, None, STABLE
    if _spread_pct(medians, 10, 90) > thresholds.bimodal_spread_pct:
        found = dip(medians)
        p_value = dip_p_value(found, len(medians))
    if p_value is not None and p_value < thresholds.bimodal_p_value:
        outcome = BIMODAL
    elif iqr > thresholds.unstable_relative_iqr_pct:
        outcome = UNSTABLE
    return Stability(
        side=side,
        runs=len(medians),
        relative_iqr_pct=r3(iqr),
        dip=None if found is None else round(found, 6),
        dip_p_value=None if p_value is None else round(p_value, 6),
        outcome=outcome,
    )


def instability_reason(found: Stability) -> str:
    """The line about a side that is not stable."""
    if found.outcome == BIMODAL:
        return (
            f"{found.side} is bimodal: the medians of its {found.runs} runs form two heaps "
            f"(dip {found.dip}, p {found.dip_p_value})"
        )
    return (
        f"{found.side} is unstable: the interquartile range of its {found.runs} run medians is "
        f"{found.relative_iqr_pct:.1f}% of their median"
    )


def _spread_pct(ordered: NDArray[np.float64], low: float, high: float) -> float:
    middle = sorted_quantile(ordered, 50)
    width = sorted_quantile(ordered, high) - sorted_quantile(ordered, low)
    return 100 * width / middle if middle > 0 else 0.0
