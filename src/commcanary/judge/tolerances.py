"""How far a canary's behaviour may be from its source's."""

from __future__ import annotations

import math

import msgspec

from commcanary.errors import InputRefusal


class Tolerances(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A latency passes within ``absolute_us`` or ``relative_pct`` of the source, the hidden share within
    ``hidden_points``, the makespan within ``absolute_us`` or ``makespan_pct``; of the slowest source events the
    canary must find ``tail_recall`` (0 to 1); two configurations tie within ``ranking_tie_us``.

    Raises InputRefusal for a negative or infinite number, or a recall above 1.
    """

    absolute_us: float = 1.0
    relative_pct: float = 10.0
    makespan_pct: float = 2.0
    hidden_points: float = 5.0
    tail_recall: float = 0.80
    ranking_tie_us: float = 0.001

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if not (value >= 0 and math.isfinite(value)):
                raise InputRefusal(name, f"is {value!r}", "give a finite number of 0 or more")
        if self.tail_recall > 1:
            raise InputRefusal("tail_recall", f"is {self.tail_recall!r}", "give a share from 0 to 1")
