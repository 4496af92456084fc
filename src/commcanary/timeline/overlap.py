"""The overlap document: what one job's profiles show of communication beside compute, in whole nanoseconds."""

from __future__ import annotations

import msgspec

from commcanary.artifacts.document import document_kind
from commcanary.artifacts.stored import SourceFile
from commcanary.timeline.device_rows import DeviceOverlap
from commcanary.timeline.transfer_baseline import TransferBaseline

OVERLAP_FORMAT = "commcanary.overlap.v1"


class RankCount(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Calls of one rank and the kernels linked to them."""

    rank: int
    calls: int
    kernels: int
    bytes: int


class Rates(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Median and total of bytes / kernel duration in GB/s (10^9 bytes): the algorithm bandwidth.

    ``busbw`` is that times ``bus_factor``, nccl-tests' factor of the operation and group; null where there is
    none. Kernel durations contain waiting for late ranks, so neither is the use of a link.
    """

    algbw_p50_gb_s: float
    algbw_total_gb_s: float
    bus_factor: float | None
    busbw_p50_gb_s: float | None
    busbw_total_gb_s: float | None


class Size(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An exact message size and how many calls had it; ``rates`` where the counts of this size close."""

    bytes: int
    shown: str
    calls: int
    per_step: int | None
    rates: Rates | None


class Payload(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A collective kind on a process group, over all ranks.

    The counts close where every call has one kernel, no kernel of the kind is without a call, and calls =
    ranks x steps x ``per_step``; else ``open_because`` says why and ``rates`` are withheld.
    """

    kind: str
    group: str
    group_ranks: int
    dtypes: tuple[str, ...]
    calls: int
    kernels: int
    unlinked_kernels: int
    ranks: int
    steps: int
    per_step: int | None
    bytes_p50: int
    bytes_p99: int
    bytes_total: int
    bytes_per_rank_step: int | None
    sizes: tuple[Size, ...]
    per_rank: tuple[RankCount, ...]
    open_because: tuple[str, ...]
    rates: Rates | None

    def __post_init__(self) -> None:
        counted = {sum(row.calls for row in self.sizes), sum(row.calls for row in self.per_rank), self.calls}
        moved = {
            sum(row.bytes * row.calls for row in self.sizes),
            sum(r.bytes for r in self.per_rank),
            self.bytes_total,
        }
        if len(counted) > 1 or sum(row.kernels for row in self.per_rank) != self.kernels:
            raise ValueError(f"calls or kernels of sizes, ranks and the row differ: {sorted(counted)}")
        if len(moved) > 1:
            raise ValueError(f"bytes of sizes, ranks and the row differ: {sorted(moved)}")
        if self.open_because and self.rates is not None:
            raise ValueError("rates are quoted although the counts do not close")


class Lateness(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One rank in the collectives of one site: how often it came last, and its median arrival after the first."""

    kind: str
    site: str
    group: str
    rank: int
    calls: int
    last: int
    last_pct: float
    median_ns: float


class LateRanks(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``clock`` says how the ranks' clocks were made comparable; ``arrival`` what counts as arriving."""

    clock: str
    error_bound_us: float | None
    arrival: str
    rows: tuple[Lateness, ...]


class StepTime(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A complete profiler step; ``longest_ns`` is its longest time of any rank."""

    name: str
    longest_ns: int


class Pattern(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Whether the largest part and the most exposed collective are the same on all devices; else who differs."""

    holds: bool
    largest_part: str
    most_exposed: str | None
    differs: tuple[str, ...]


class Missing(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Ranks of the job without a profile: how many, and the first of them, where the job's size is known."""

    world: int | None
    count: int
    ranks: tuple[int, ...]


class PartChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A number before and after, in ns, each per step where both sides have steps."""

    what: str
    before: float
    after: float
    change: float


class Against(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Before and after. ``verdict`` is by complete step time alone: faster, slower, not separated, unknown.

    ``program`` is equal, or regrouped where the same bytes move in other calls.
    """

    base: str
    verdict: str
    why: str
    program: str
    before_steps: tuple[StepTime, ...]
    after_steps: tuple[StepTime, ...]
    changes: tuple[PartChange, ...]


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How the numbers are defined; see docs/reference/overlap.md."""

    convention: str
    last_step: str
    rounding: str
    edges: str
    trim_s: tuple[float, float] | None
    lanes: str


class Overlap(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    kw_only=True,
    tag_field="format",
    tag=OVERLAP_FORMAT,
):
    """Everything measured on the profiles of one job. ``unknown`` gives the reason for each absent part."""

    settings: Settings
    devices: tuple[DeviceOverlap, ...]
    pattern: Pattern
    missing: Missing
    steps: tuple[StepTime, ...]
    payload: tuple[Payload, ...]
    late_ranks: LateRanks | None
    against: Against | None
    transfer_baseline: TransferBaseline | None = None
    unknown: dict[str, str] = {}
    source_files: tuple[SourceFile, ...] = ()


OVERLAP = document_kind("overlap", OVERLAP_FORMAT, Overlap)
"""The overlap document as an artifact kind."""
