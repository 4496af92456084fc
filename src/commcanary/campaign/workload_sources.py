"""Where a campaign's workload comes from: one type a kind of source, each key with its unit and its default."""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from commcanary.replay.configuration import LARGEST_SEED
from commcanary.sources.synthetic.registry import MAX_EVENTS
from commcanary.units import MAX_TIME_US

Rank = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{1,9}$(?!\n)")]

Count = Annotated[int, msgspec.Meta(ge=1, le=MAX_EVENTS)]
"""A number of things of which a trace has no more than events."""

Seed = Annotated[int, msgspec.Meta(ge=0, le=LARGEST_SEED)]

OffsetUs = Annotated[float, msgspec.Meta(ge=-MAX_TIME_US, le=MAX_TIME_US)]

Seconds = Annotated[float, msgspec.Meta(ge=0, le=MAX_TIME_US / 1e6)]

Paths = Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
"""Files, relative to the configuration file."""

ClockSource = Literal["unknown", "shared", "estimate", "offsets"]
"""``shared`` takes the ranks' clocks as one, ``estimate`` fits offsets from collectives, ``offsets`` takes
``clock_offsets_us`` (rank -> us), which no other goes with; ``unknown`` leaves arrival skew unknown."""


class _Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Unknown keys are refused."""


class SynthSource(_Strict, tag_field="kind", tag="synth", frozen=True, kw_only=True):
    """A trace made by ``commcanary synth NAME``, ``repeat`` times in a row."""

    name: str
    seed: Seed = 7
    events: Count | None = None
    repeat: Count = 1


class TraceSource(_Strict, tag_field="kind", tag="trace", frozen=True, kw_only=True):
    """A trace file (``.json`` or ``.parquet``)."""

    path: str


class KinetoSource(_Strict, tag_field="kind", tag="kineto", frozen=True, kw_only=True):
    """Kineto profiles, one or more ranks of one job."""

    profiles: Paths
    clock: ClockSource = "unknown"
    clock_offsets_us: dict[Rank, OffsetUs] = {}
    phase: str | None = None
    phase_annotations: tuple[str, ...] = ()
    assume_default_group: bool = False
    process_group: str | None = None


class NsysSource(_Strict, tag_field="kind", tag="nsys", frozen=True, kw_only=True):
    """Nsight Systems exports with blobs, of one node or of all nodes of a job; the clock is about several exports."""

    exports: Paths
    clock: ClockSource = "unknown"
    clock_offsets_us: dict[Rank, OffsetUs] = {}
    trim_s: tuple[Seconds, Seconds] | None = None
    phase: str | None = None
    phase_annotations: tuple[str, ...] = ()
    assume_default_group: bool = False
    assume_all_ranks_captured: bool = False
    process_group: str | None = None


class ChakraSource(_Strict, tag_field="kind", tag="chakra", frozen=True, kw_only=True):
    """Execution traces, PyTorch's or Chakra's; ``ranks`` are theirs in order, ``groups`` a file of process groups."""

    traces: Paths
    ranks: tuple[Seed, ...] = ()
    world_size: Count | None = None
    groups: str | None = None
    phase: str | None = None
    assume_default_group: bool = False
    process_group: str | None = None


class FlightRecorderSource(_Strict, tag_field="kind", tag="flight-recorder", frozen=True, kw_only=True):
    """Flight Recorder dumps, JSON or pickle, one a rank; ``ranks`` are theirs in order. Clocks cannot be estimated."""

    dumps: Paths
    ranks: tuple[Seed, ...] = ()
    clock: Literal["unknown", "shared", "offsets"] = "unknown"
    clock_offsets_us: dict[Rank, OffsetUs] = {}
    phase: str | None = None
    process_group: str | None = None


class NcclInspectorSource(_Strict, tag_field="kind", tag="nccl-inspector", frozen=True, kw_only=True):
    """Records of NCCL's Inspector, one file a process; clocks are those of the hosts, in verbose records alone."""

    records: Paths
    clock: ClockSource = "unknown"
    clock_offsets_us: dict[Rank, OffsetUs] = {}
    phase: str | None = None
    process_group: str | None = None


class NcclLogSource(_Strict, tag_field="kind", tag="nccl-log", frozen=True, kw_only=True):
    """Debug logs of NCCL, one a process; ``ranks`` are theirs in the default group. Clocks cannot be estimated."""

    logs: Paths
    ranks: tuple[Seed, ...] = ()
    clock: Literal["unknown", "shared", "offsets"] = "unknown"
    clock_offsets_us: dict[Rank, OffsetUs] = {}
    phase: str | None = None
    assume_default_group: bool = False
    process_group: str | None = None


class CaptureSource(_Strict, tag_field="kind", tag="capture", frozen=True, kw_only=True):
    """What a job communicates while ``command`` runs it; ``auto`` records ``torch.distributed`` in every rank."""

    command: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    auto: bool = True


Source = (
    SynthSource
    | TraceSource
    | KinetoSource
    | NsysSource
    | ChakraSource
    | FlightRecorderSource
    | NcclInspectorSource
    | NcclLogSource
    | CaptureSource
)

S = TypeVar("S", bound=msgspec.Struct)

_FILES = ("path", "profiles", "exports", "traces", "groups", "dumps", "records", "logs")
"""Keys that name files."""


def files_of(source: Source) -> dict[str, str]:
    """The files that a trace is made from, as configured, by the path of the key that names each."""
    found: dict[str, str] = {}
    for key in _FILES:
        value = getattr(source, key, None) or ()
        if isinstance(value, str):
            found[key] = value
        else:
            found |= {f"{key}[{number}]": name for number, name in enumerate(value)}
    return found


def without_folders(source: S) -> S:
    """``source`` with base names in place of the paths of its files: what it says wherever they lie."""
    named: dict[str, Any] = {}
    for key in _FILES:
        value = getattr(source, key, None)
        if isinstance(value, str):
            named[key] = PurePath(value).name
        elif value is not None:
            named[key] = tuple(PurePath(name).name for name in value)
    return msgspec.structs.replace(source, **named)
