"""How far a canary's behaviour may be from its source's."""

from __future__ import annotations

import msgspec

from commcanary.errors import InputRefusal
from commcanary.units import MAX_TIME_US

_MOST = {"us": MAX_TIME_US, "pct": 1000, "points": 100, "recall": 1}
"""Largest value by the end of a field's name, which is its unit."""


class Tolerances(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A latency passes within ``absolute_us`` or ``relative_pct`` of the source, the hidden share within
    ``hidden_points``, the makespan within ``absolute_us`` or ``makespan_pct``; of the slowest source events the
    canary must find ``tail_recall`` (0 to 1); two configurations tie within ``ranking_tie_us``.

    Raises InputRefusal for a negative number, a time above the largest that a trace may state, more than
    1,000 %, more than 100 points or a recall above 1.
    """

    absolute_us: float = 1.0
    relative_pct: float = 10.0
    makespan_pct: float = 2.0
    hidden_points: float = 5.0
    tail_recall: float = 0.80
    ranking_tie_us: float = 0.001

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value, most = getattr(self, name), _MOST[name.rpartition("_")[2]]
            if not 0 <= value <= most:
                raise InputRefusal(name, f"is {value!r}", f"give 0 to {most:g}")
