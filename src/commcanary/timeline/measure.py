"""``measure``: the timelines of one job -> its overlap document."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

from commcanary.errors import InputRefusal
from commcanary.timeline.conventions import Convention
from commcanary.timeline.device_overlap import device_overlap
from commcanary.timeline.kernels import UNKNOWN
from commcanary.timeline.late_ranks import Meetings, last_arrivals, late_ranks
from commcanary.timeline.overlap import Missing, Overlap, Pattern, Settings, StepTime
from commcanary.timeline.payload import payload
from commcanary.timeline.phase_anchors import PHASES, PhaseAnchors, anchored
from commcanary.timeline.transfer_baseline import TransferLaw, TransferRow, transfer_baseline, transfer_rows
from commcanary.timeline.windows import Selection, Window, WindowSettings, main_window

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from commcanary.artifacts.stored import SourceFile
    from commcanary.timeline.device_rows import DeviceOverlap
    from commcanary.timeline.kernels import Kernels
    from commcanary.timeline.rank_timeline import DeviceTimeline, RankTimeline

    Ints = NDArray[np.int64]

BY_ANNOTATION = "annotations"
BY_ANCHOR = "anchors (approximate)"
NO_PHASES = "none"
LARGEST_WORLD = 10**8
MISSING_LISTED = 1024


@dataclass(frozen=True)
class OverlapSettings:
    """Options of a measurement; ``device`` keeps the devices of that number alone.

    ``laws`` say how long collectives take alone on the machine.
    """

    convention: Convention = field(default_factory=Convention)
    windows: WindowSettings = field(default_factory=WindowSettings)
    anchors: PhaseAnchors | None = None
    device: str | None = None
    laws: tuple[TransferLaw, ...] = ()


def measure(
    timelines: Sequence[RankTimeline],
    meetings: Meetings,
    settings: OverlapSettings,
    source_files: tuple[SourceFile, ...] = (),
) -> Overlap:
    """The overlap document of ``timelines``; ``against`` is left open.

    Raises ``InputRefusal`` for a window, pattern or device that the profiles do not have.
    """
    step_names = [name for timeline in timelines for name in timeline.steps.name]
    rows: list[DeviceOverlap] = []
    transfers: list[TransferRow] = []
    trims: list[Window | None] = []
    for timeline in timelines:
        trim = settings.windows.trim
        trims.append(None)
        kept = settings.convention.applied(timeline, step_names)
        arrivals = last_arrivals(meetings, timeline.rank, 0 if timeline.calls is None else len(timeline.calls))
        for device, kernels in zip(timeline.devices, kept, strict=True):
            if settings.device in (None, device.device):
                rows.append(_row(timeline, device, kernels, settings, arrivals))
                if settings.laws:
                    window = main_window(kernels, timeline, settings.windows)
                    inside = Selection(kernels, settings.windows.edges).uncut(window)
                    transfers += transfer_rows(timeline, device.device, inside, settings.laws, arrivals)
            if trim is not None:
                trims[-1] = main_window(kernels, timeline, settings.windows)
    if not rows:
        known = ", ".join(sorted({device.device for timeline in timelines for device in timeline.devices}))
        raise InputRefusal("--device", f"no profile has a device {settings.device}", f"there are: {known}")
    convention = settings.convention.settled()
    assert convention.last_step is not None
    assert convention.rounding is not None
    return Overlap(
        settings=Settings(
            convention=convention.name,
            last_step=convention.last_step,
            rounding=convention.rounding,
            edges=settings.windows.edges,
            trim_s=settings.windows.trim,
            lanes="/".join(sorted({timeline.lanes for timeline in timelines})),
        ),
        devices=tuple(rows),
        pattern=_pattern(rows),
        missing=_missing(timelines),
        steps=_steps(timelines, trims),
        payload=payload(timelines, trims),
        late_ranks=late_ranks(meetings),
        against=None,
        transfer_baseline=transfer_baseline(settings.laws, transfers) if settings.laws else None,
        unknown=_unknown(timelines, meetings, rows),
        source_files=source_files,
    )


def _row(
    timeline: RankTimeline,
    device: DeviceTimeline,
    kernels: Kernels,
    settings: OverlapSettings,
    last_arrival: Ints | None,
) -> DeviceOverlap:
    phases = BY_ANNOTATION if bool((kernels.phase != UNKNOWN).any()) else NO_PHASES
    if phases == NO_PHASES and settings.anchors is not None:
        phases = BY_ANCHOR
        kernels = anchored(kernels, timeline.names, settings.anchors)
        timeline = replace(timeline, phases=PHASES)
    return device_overlap(timeline, device, kernels, phases, settings.windows, last_arrival)


def _pattern(rows: Sequence[DeviceOverlap]) -> Pattern:
    """What most devices show, and the devices that show something else."""

    def shown(row: DeviceOverlap) -> tuple[str, str | None]:
        main = row.main
        parts = {
            "compute only": main.compute_only_ns,
            "communication only": main.communication_only_ns,
            "both": main.both_ns,
            "neither": main.neither_ns,
        }
        exposed = [kind.name for kind in row.kinds if kind.exposed_ns]
        return max(parts, key=lambda name: parts[name]), exposed[0] if exposed else None

    by_pattern: dict[tuple[str, str | None], list[str]] = defaultdict(list)
    for row in rows:
        by_pattern[shown(row)].append(device_label(row))
    usual = max(by_pattern, key=lambda pattern: len(by_pattern[pattern]))
    differs = tuple(
        f"{label}: {part}, {kind or 'nothing exposed'}"
        for (part, kind), labels in by_pattern.items()
        if (part, kind) != usual
        for label in labels
    )
    return Pattern(holds=not differs, largest_part=usual[0], most_exposed=usual[1], differs=differs)


def device_label(row: DeviceOverlap) -> str:
    """``rank 3 device 3``: how people and figures name a device."""
    return f"rank {'?' if row.rank is None else row.rank} device {row.device}"


def _missing(timelines: Sequence[RankTimeline]) -> Missing:
    worlds = {timeline.world for timeline in timelines if timeline.world is not None}
    world = worlds.pop() if len(worlds) == 1 else None
    present = {timeline.rank for timeline in timelines}
    if world is None or None in present:
        return Missing(world=world, count=0, ranks=())
    if world > LARGEST_WORLD:
        raise InputRefusal("distributedInfo.world_size", f"is {world}", "check the profile: no job has so many ranks")
    missing = (rank for rank in range(world) if rank not in present)
    return Missing(world=world, count=world - len(present), ranks=tuple(islice(missing, MISSING_LISTED)))


def _steps(timelines: Sequence[RankTimeline], trims: Sequence[Window | None]) -> tuple[StepTime, ...]:
    """Steps that every profile has, inside the trim where there is one, by name."""
    lengths: dict[str, list[int]] = defaultdict(list)
    for timeline, trim in zip(timelines, trims, strict=True):
        steps = timeline.steps
        for name, start, end in zip(steps.name, steps.start.tolist(), steps.end.tolist(), strict=True):
            if trim is None or (trim.start <= start and end <= trim.end):
                lengths[name].append(end - start)
    return tuple(
        StepTime(name=name, longest_ns=max(found)) for name, found in lengths.items() if len(found) == len(timelines)
    )


def _unknown(timelines: Sequence[RankTimeline], meetings: Meetings, rows: Sequence[DeviceOverlap]) -> dict[str, str]:
    unknown = {}
    if any(timeline.rank is None for timeline in timelines):
        unknown["rank"] = next(timeline.no_calls for timeline in timelines if timeline.rank is None)
    refused = sum(timeline.refused_calls for timeline in timelines)
    if refused:
        unknown["calls"] = f"{refused} calls could not be read for certain; import-kineto says why"
    if meetings.unknown:
        unknown["late_ranks"] = meetings.unknown
    if any(row.phases == NO_PHASES for row in rows):
        unknown["phases"] = "no annotation with a phase's name is around a launch; --phase-anchor marks them"
    if not any(len(timeline.steps) for timeline in timelines):
        unknown["steps"] = "no ProfilerStep annotation"
    if any(row.dependency is None for row in rows):
        unknown["dependency"] = "on a host no event shows a thread waiting for a transfer"
    without = [device_label(row) for row in rows if row.main.overlap_pct is None]
    if without:
        unknown["overlap_pct"] = f"no communication on {', '.join(without)}"
    return unknown
