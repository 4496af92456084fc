"""What the user may say about an import of Nsight Systems exports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from commcanary.errors import UsageError
from commcanary.sources.calls.clocks import ClockChoice
from commcanary.units import NS_PER_US

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commcanary.timeline.communication_kernels import KernelRule

NS_PER_S = 1_000_000 * NS_PER_US


@dataclass(frozen=True, kw_only=True)
class NsysSettings:
    """Options of ``import_nsys``.

    ``phase``, ``phase_annotations``, ``process_group``, ``on_error`` and ``kernel_rules`` as for Kineto. The clock
    options are about several exports: all that one export holds is on one clock. ``trim_s`` keeps the events that
    lie inside [start, end) seconds of the session. ``assume_default_group`` declares that calls which name no
    communicator (NCCL before 2.25) ran on one that holds every process. ``assume_all_ranks_captured``
    declares that a communicator whose creation was not captured holds exactly the processes that call on it.
    """

    workload_name: str | None = None
    phase: str | None = None
    phase_annotations: tuple[str, ...] = ()
    process_group: str | None = None
    assume_shared_clock: bool = False
    clock_offsets_us: Mapping[int, float] = field(default_factory=dict)
    estimate_clock: bool = False
    trim_s: tuple[float, float] | None = None
    assume_default_group: bool = False
    assume_all_ranks_captured: bool = False
    on_error: Literal["stop", "skip"] = "stop"
    kernel_rules: tuple[KernelRule, ...] = ()

    def __post_init__(self) -> None:
        _ = self.clock
        if self.trim_s is not None and not 0 <= self.trim_s[0] < self.trim_s[1] < 1e9:
            raise UsageError(
                f"--trim {self.trim_s[0]:g} {self.trim_s[1]:g}: give START and END in seconds, START first"
            )

    @property
    def clock(self) -> ClockChoice:
        """How times of several exports may be compared."""
        return ClockChoice(self.assume_shared_clock, self.clock_offsets_us, self.estimate_clock)

    @property
    def trim_ns(self) -> tuple[int, int] | None:
        """The window in ns of the session."""
        return None if self.trim_s is None else (round(self.trim_s[0] * NS_PER_S), round(self.trim_s[1] * NS_PER_S))
