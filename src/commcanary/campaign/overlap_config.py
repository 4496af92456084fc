"""A campaign's measurements of overlap: one entry a job, each key with its unit and its default."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from commcanary.campaign.workload_sources import KinetoSource, Seconds
from commcanary.units import MAX_TIME_US


class AnchorConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Patterns of kernel names that start a phase, where no annotation says so; a longer gap starts a step."""

    forward: str
    backward: str
    step_gap_ms: Annotated[float, msgspec.Meta(ge=0, le=MAX_TIME_US / 1e3)] = 1.0


class OverlapConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One job's profiles and how their overlap is measured; ``against`` names the entry of the same job before.

    ``last_step`` and ``rounding`` of null are the convention's own.
    """

    name: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$(?!\n)")]
    source: KinetoSource
    convention: Literal["exact", "hta"] = "exact"
    last_step: Literal["keep", "drop"] | None = None
    rounding: Literal["ns", "us"] | None = None
    edges: Literal["clip", "inside"] = "clip"
    trim_s: tuple[Seconds, Seconds] | None = None
    ranges: tuple[str, ...] = ()
    device: str | None = None
    phase_anchors: AnchorConfig | None = None
    communication_kernels: dict[str, str] = {}
    against: str | None = None
