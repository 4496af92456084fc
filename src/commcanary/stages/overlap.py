"""Stage: Kineto profiles of one job -> overlap document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from commcanary.artifacts.files import SUFFIXES, check_suffix, format_of, read_artifact, write_artifact
from commcanary.artifacts.stored import Stored
from commcanary.errors import Refusal
from commcanary.sources.kineto.meetings import meetings_of
from commcanary.sources.kineto.timelines import read_timelines
from commcanary.timeline.before_after import against
from commcanary.timeline.measure import OverlapSettings, measure
from commcanary.timeline.overlap import OVERLAP, OVERLAP_FORMAT, Overlap

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from commcanary.sources.kineto.settings import KinetoSettings


def overlap_stage(
    profiles: Sequence[Path],
    output: Path,
    reading: KinetoSettings,
    settings: OverlapSettings,
    base: Sequence[Path] = (),
) -> Overlap:
    """Measure ``profiles`` and write the document; ``base`` are the profiles, or the document, from before."""
    check_suffix(output)
    overlap = measured(profiles, reading, settings)
    if base:
        before = _before(base, reading, settings)
        overlap = msgspec.structs.replace(overlap, against=against(before.header, overlap, before.content_id))
    write_artifact(output, OVERLAP, Stored(overlap))
    return overlap


def measured(profiles: Sequence[Path], reading: KinetoSettings, settings: OverlapSettings) -> Overlap:
    """The overlap document of ``profiles``, without a comparison."""
    found = read_timelines(profiles, reading)
    meetings = meetings_of(found.reads, reading)
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
