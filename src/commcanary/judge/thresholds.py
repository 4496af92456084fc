"""How much slower is too slow: the thresholds of a comparison."""

from __future__ import annotations

import msgspec

from commcanary.errors import InputRefusal
from commcanary.units import MAX_TIME_US

_MOST = {"us": MAX_TIME_US, "pct": 1e6, "points": 100, "value": 1}
"""Largest value by the end of a field's name, which is its unit."""


class Thresholds(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A rise fails where it exceeds both the percentage and the absolute floor (us); half of both warns.

    ``hidden_drop_threshold_points`` is about hidden communication in percentage points. The breakdown pair
    applies to phases and operations and is the p99 pair where not given. The makespan pair applies to the median
    makespan over runs, where the model has one.

    The last three are about medians of single runs: a side is unstable where their interquartile range is
    over ``unstable_relative_iqr_pct`` of their median, bimodal where the range from 10th to 90th percentile is
    over ``bimodal_spread_pct`` and the dip test's p-value under ``bimodal_p_value``.
    Raises InputRefusal for a negative number, more than 1,000,000 %, more than 100 points, a p-value above 1, and a
    time above the largest that a trace may state.
    """

    p99_threshold_pct: float = 15.0
    p95_threshold_pct: float = 10.0
    median_threshold_pct: float = 8.0
    p99_absolute_threshold_us: float = 1.0
    p95_absolute_threshold_us: float = 1.0
    median_absolute_threshold_us: float = 1.0
    makespan_threshold_pct: float = 5.0
    makespan_absolute_threshold_us: float = 1.0
    hidden_drop_threshold_points: float = 5.0
    breakdown_threshold_pct: float | None = None
    breakdown_absolute_threshold_us: float | None = None
    unstable_relative_iqr_pct: float = 20.0
    bimodal_spread_pct: float = 5.0
    bimodal_p_value: float = 0.01

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value, most = getattr(self, name), _MOST[name.rpartition("_")[2]]
            if value is not None and not 0 <= value <= most:
                raise InputRefusal(name, f"is {value!r}", f"give 0 to {most:g}")

    def of_run(self, statistic: str) -> tuple[float, float]:
        """(percent, us) for ``median``, ``p95`` or ``p99`` of the whole run, or its ``makespan``."""
        return getattr(self, f"{statistic}_threshold_pct"), getattr(self, f"{statistic}_absolute_threshold_us")

    @property
    def of_breakdown(self) -> tuple[float, float]:
        """(percent, us) for every statistic of a phase or an operation."""
        percent, floor = self.breakdown_threshold_pct, self.breakdown_absolute_threshold_us
        return (
            self.p99_threshold_pct if percent is None else percent,
            self.p99_absolute_threshold_us if floor is None else floor,
        )
