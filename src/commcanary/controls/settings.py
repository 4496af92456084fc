"""The settings of the controls."""

from __future__ import annotations

import msgspec

from commcanary.errors import InputRefusal


class ControlSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``sample_count``: events that ``random`` draws; ``cluster_count``: medoids per shape group;
    ``strata_per_group``: draws per shape group; ``seed`` of the drawing methods.

    Raises InputRefusal for a count below 1.
    """

    sample_count: int = 8
    cluster_count: int = 8
    strata_per_group: int = 4
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("sample_count", "cluster_count", "strata_per_group"):
            if getattr(self, name) < 1:
                raise InputRefusal(name, f"is {getattr(self, name)}", "give a whole number of 1 or more")
