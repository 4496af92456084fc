"""What the user may say about an import of Flight Recorder dumps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from commcanary.errors import UsageError
from commcanary.sources.calls.clocks import ClockChoice

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True)
class FlightRecorderSettings:
    """Options of ``import_flight_recorder``.

    ``ranks`` are the ranks of the dumps in their order, where their names do not end in them. The clock is that of
    the hosts' ``time_created_ns``; it cannot be estimated, for no entry says when a call ended. ``phase``,
    ``process_group`` and ``on_error`` as for Kineto.
    """

    workload_name: str | None = None
    phase: str | None = None
    process_group: str | None = None
    ranks: tuple[int, ...] = ()
    assume_shared_clock: bool = False
    clock_offsets_us: Mapping[int, float] = field(default_factory=dict)
    on_error: Literal["stop", "skip"] = "stop"

    def __post_init__(self) -> None:
        _ = self.clock
        if len(set(self.ranks)) < len(self.ranks) or any(rank < 0 for rank in self.ranks):
            raise UsageError(f"--rank {', '.join(map(str, self.ranks))}: give each dump a rank of its own, from 0 on")

    @property
    def clock(self) -> ClockChoice:
        """How times of different ranks may be compared."""
        return ClockChoice(self.assume_shared_clock, self.clock_offsets_us)
