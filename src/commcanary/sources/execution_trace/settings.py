"""What the user may say about an import of execution traces."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from commcanary.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True)
class ExecutionTraceSettings:
    """Options of ``import_execution_traces``.

    ``ranks`` are the ranks of the files in their order, for traces that do not say theirs; ``world_size`` the number
    of ranks of the job. ``groups`` lists the ranks of process groups by name, as ASTRA-sim's communicator groups do.
    ``assume_default_group`` declares that calls which name no process group ran on the job's default group.
    ``phase``, ``process_group`` and ``on_error`` as for Kineto.
    """

    workload_name: str | None = None
    phase: str | None = None
    process_group: str | None = None
    ranks: tuple[int, ...] = ()
    world_size: int | None = None
    groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    assume_default_group: bool = False
    on_error: Literal["stop", "skip"] = "stop"

    def __post_init__(self) -> None:
        if len(set(self.ranks)) < len(self.ranks) or any(rank < 0 for rank in self.ranks):
            raise UsageError(f"--rank {', '.join(map(str, self.ranks))}: give each file a rank of its own, from 0 on")
        if self.world_size is not None and self.world_size < 1:
            raise UsageError(f"--world-size {self.world_size}: give 1 or more")
