"""What the user may say about an import, and what an import gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from commcanary.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commcanary.artifacts.trace import Trace
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
        chosen = [self.assume_shared_clock, bool(self.clock_offsets_us), self.estimate_clock]
        if sum(chosen) > 1:
            raise UsageError("give one of --assume-shared-clock, --clock-offset-us and --estimate-clock, not several")

    @property
    def knows_clock(self) -> bool:
        """Whether time stamps of different ranks may be compared."""
        return self.assume_shared_clock or bool(self.clock_offsets_us) or self.estimate_clock


@dataclass(frozen=True)
class Imported:
    """A trace and the counts of its import: calls per rank that were control (wait, barrier) or empty."""

    trace: Trace
    control: int
    empty: int
    refused: int

    @property
    def summary(self) -> str:
        """The line that a command prints."""
        refused = f", {self.refused} refused" if self.refused else ""
        return (
            f"imported {len(self.trace)} collective events "
            f"(skipped {self.control} control, {self.empty} empty{refused})"
        )
