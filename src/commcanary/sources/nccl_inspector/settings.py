"""What the user may say about an import of NCCL Inspector files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from commcanary.sources.calls.clocks import ClockChoice

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True)
class NcclInspectorSettings:
    """Options of ``import_nccl_inspector``.

    ``process_group`` is the id or the name of one communicator. The clocks are those of the hosts, which stand in
    verbose records alone. ``phase`` and ``on_error`` as for Kineto.
    """

    workload_name: str | None = None
    phase: str | None = None
    process_group: str | None = None
    assume_shared_clock: bool = False
    estimate_clock: bool = False
    clock_offsets_us: Mapping[int, float] = field(default_factory=dict)
    on_error: Literal["stop", "skip"] = "stop"

    def __post_init__(self) -> None:
        _ = self.clock

    @property
    def clock(self) -> ClockChoice:
        """How times of different ranks may be compared."""
        return ClockChoice(self.assume_shared_clock, self.clock_offsets_us, self.estimate_clock)
