"""The settings of the controls."""

from __future__ import annotations

import msgspec

from commcanary.errors import InputRefusal
from commcanary.replay.configuration import LARGEST_SEED

_LARGEST_COUNT = 10**9


class ControlSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``sample_count``: events that ``random`` draws; ``cluster_count``: medoids per shape group;
    ``strata_per_group``: draws per shape group; ``seed`` of the drawing methods.

    Raises InputRefusal for a count outside 1 to 10^9, and a seed outside 0 to 2^63 - 1.
    """

    sample_count: int = 8
    cluster_count: int = 8
    strata_per_group: int = 4
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("sample_count", "cluster_count", "strata_per_group"):
            if not 1 <= getattr(self, name) <= _LARGEST_COUNT:
                raise InputRefusal(name, f"is {getattr(self, name)}", f"give a whole number from 1 to {_LARGEST_COUNT}")
        if not 0 <= self.seed <= LARGEST_SEED:
            raise InputRefusal("seed", f"is {self.seed}", "give a whole number from 0 to 2^63 - 1")
