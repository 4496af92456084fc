"""What the user may say about an import of Kineto profiles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from commcanary.sources.calls.clocks import ClockChoice

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commcanary.timeline.communication_kernels import KernelRule


@dataclass(frozen=True, kw_only=True)
class KinetoSettings:
    """Options of ``import_kineto``.

    ``phase`` replaces every phase; ``phase_annotations`` are names of record_function blocks that become
    phases beside the usual ones. ``process_group`` keeps the calls of groups with that name or description.
    At most one clock option: ``assume_shared_clock`` (time stamps of all ranks are comparable),
    ``clock_offsets_us`` (microseconds to *add* to each rank's time stamps, for every rank), or
    ``estimate_clock`` (from the ends of synchronising collectives). ``assume_default_group`` declares that
    calls which name no process group ran on the job's default group. ``on_error="skip"`` leaves out calls
    that would be refused, and counts them. ``kernel_rules`` extend the table of communication kernels.
    """

    workload_name: str | None = None
    phase: str | None = None
    phase_annotations: tuple[str, ...] = ()
    process_group: str | None = None
    assume_shared_clock: bool = False
    clock_offsets_us: Mapping[int, float] = field(default_factory=dict)
    estimate_clock: bool = False
    assume_default_group: bool = False
    on_error: Literal["stop", "skip"] = "stop"
    repair: bool = False
    kernel_rules: tuple[KernelRule, ...] = ()

    def __post_init__(self) -> None:
        _ = self.clock

    @property
    def clock(self) -> ClockChoice:
        """Whether and how time stamps of different ranks may be compared; ``UsageError`` for several answers."""
        return ClockChoice(self.assume_shared_clock, self.clock_offsets_us, self.estimate_clock)
