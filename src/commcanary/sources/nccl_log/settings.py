"""What the user may say about an import of NCCL debug logs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from commcanary.errors import UsageError
from commcanary.sources.calls.clocks import ClockChoice

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True)
class NcclLogSettings:
    """Options of ``import_nccl_log``.

    ``assume_default_group`` declares that calls on a communicator whose creation a log does not show ran on the group
    of all ranks; ``ranks`` are then those of the logs in their order. The clocks are those of the hosts, where lines
    have times; they cannot be estimated, for no line says when a call ended. ``process_group`` is a communicator's
    name; ``phase`` and ``on_error`` as for Kineto.
    """

    workload_name: str | None = None
    phase: str | None = None
    process_group: str | None = None
    ranks: tuple[int, ...] = ()
    assume_default_group: bool = False
    assume_shared_clock: bool = False
    clock_offsets_us: Mapping[int, float] = field(default_factory=dict)
    on_error: Literal["stop", "skip"] = "stop"

    def __post_init__(self) -> None:
        _ = self.clock
        if len(set(self.ranks)) < len(self.ranks) or any(rank < 0 for rank in self.ranks):
            raise UsageError(f"--rank {', '.join(map(str, self.ranks))}: give each log a rank of its own, from 0 on")
        if self.ranks and not self.assume_default_group:
            raise UsageError("--rank changes nothing without --assume-default-group: other logs state their ranks")

    @property
    def clock(self) -> ClockChoice:
        """How times of different ranks may be compared."""
        return ClockChoice(self.assume_shared_clock, self.clock_offsets_us)
