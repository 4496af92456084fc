"""Stage: Kineto profiles or Nsight Systems exports of one job -> overlap document."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from commcanary.artifacts.files import SUFFIXES, check_suffix, format_of, read_artifact, write_artifact
from commcanary.artifacts.jsontext import convert
from commcanary.artifacts.stored import Stored
from commcanary.campaign.overlap_config import OverlapConfig
from commcanary.errors import Refusal
from commcanary.sources.files import source_files
from commcanary.sources.kineto.meetings import meetings_of
from commcanary.sources.kineto.timelines import read_timelines
from commcanary.sources.nsys.timelines import is_export, read_nsys_timelines
from commcanary.stages.configured import configured
from commcanary.stages.source_settings import kineto_settings, nsys_settings_of
from commcanary.stages.transfer_laws import transfer_laws
from commcanary.timeline.before_after import against
from commcanary.timeline.communication_kernels import KernelRule
from commcanary.timeline.conventions import Convention
from commcanary.timeline.measure import OverlapSettings, measure
from commcanary.timeline.overlap import OVERLAP, OVERLAP_FORMAT, Overlap
from commcanary.timeline.phase_anchors import PhaseAnchors
from commcanary.timeline.windows import WindowSettings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from commcanary.sources.kineto.settings import KinetoSettings

US_PER_MS = 1000


def overlap_stage(
    profiles: Sequence[Path],
    output: Path,
    reading: KinetoSettings,
    settings: OverlapSettings,
    base: Sequence[Path] = (),
    tables: Sequence[Path] = (),
) -> Overlap:
    """Measure ``profiles`` and write the document; ``base`` are the profiles, or the document, from before.

    ``tables`` are nccl-tests logs that the collectives are held against.
    """
    check_suffix(output)
    overlap = measured(profiles, reading, replace(settings, laws=transfer_laws(tables)))
    if tables:
        files = (*overlap.source_files, *source_files(tables))
        overlap = msgspec.structs.replace(overlap, source_files=files)
    if base:
        before = _before(base, reading, settings)
        overlap = msgspec.structs.replace(overlap, against=against(before.header, overlap, before.content_id))
    write_artifact(output, OVERLAP, Stored(overlap))
    return overlap


def overlap_entry_stage(
    entry: Mapping[str, Any], profiles: Sequence[Path], output: Path, base: Sequence[Path] = ()
) -> Overlap:
    """Measure an entry of a campaign's ``overlap`` (plain data as in the configuration); ``base`` is a document."""
    config = convert(entry, OverlapConfig)
    with configured(f"overlap entry {config.name}"):
        reading = replace(
            kineto_settings(config.source, config.name),
            kernel_rules=tuple(KernelRule(*rule) for rule in config.communication_kernels.items()),
        )
        anchors = config.phase_anchors
        settings = OverlapSettings(
            convention=Convention(config.convention, config.last_step, config.rounding),
            windows=WindowSettings(config.trim_s, config.edges, config.ranges),
            anchors=None
            if anchors is None
            else PhaseAnchors(anchors.forward, anchors.backward, anchors.step_gap_ms * US_PER_MS),
            device=config.device,
        )
        return overlap_stage(profiles, output, reading, settings, base)


def measured(profiles: Sequence[Path], reading: KinetoSettings, settings: OverlapSettings) -> Overlap:
    """The overlap document of ``profiles``, without a comparison."""
    if profiles and is_export(profiles[0]):
        exports = read_nsys_timelines(profiles, nsys_settings_of(reading))
        timelines = [read.timeline for read in exports.reads]
        meetings = meetings_of(exports.reads, exports.clock)
        if exports.one_session and not meetings.unknown:
            meetings = replace(meetings, clock="one session of the profiler", error_bound_us=0.0)
        return measure(timelines, meetings, settings, exports.files)
    found = read_timelines(profiles, reading)
    meetings = meetings_of(found.reads, reading.clock)
    return measure([read.timeline for read in found.reads], meetings, settings, found.files)


def _before(base: Sequence[Path], reading: KinetoSettings, settings: OverlapSettings) -> Stored[Overlap]:
    if len(base) == 1 and _is_overlap(base[0]):
        return read_artifact(base[0], OVERLAP)
    return Stored(measured(base, reading, settings))


def _is_overlap(path: Path) -> bool:
    """Whether the file states our format; a profile states none."""
    if path.suffix not in SUFFIXES:
        return False
    try:
        return format_of(path) == OVERLAP_FORMAT
    except Refusal:
        return False
