"""``read_timelines``: profile files -> what ran on their devices."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from commcanary.errors import InputRefusal
from commcanary.sources.calls.matching import check_same_job
from commcanary.sources.containers import read_members
from commcanary.sources.files import source_files
from commcanary.sources.kineto.rank_timeline import RankRead, rank_timeline
from commcanary.sources.kineto.reading import PROFILES, read_profile
from commcanary.sources.kineto.settings import KinetoSettings
from commcanary.timeline.communication_kernels import CommunicationKernels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commcanary.artifacts.stored import SourceFile
    from commcanary.sources.containers import Member


@dataclass(frozen=True)
class Timelines:
    """The profiles of one job, in order of rank where all state theirs, and the files that they came from."""

    reads: tuple[RankRead, ...]
    files: tuple[SourceFile, ...]


def read_timelines(
    paths: Sequence[Path | str], settings: KinetoSettings | None = None, *, communicates: bool = True
) -> Timelines:
    """Timelines of the profiles of one job (``.json``, ``.json.gz``, archives of them), one or more ranks.

    ``communicates=False`` admits jobs on CPUs that only compute.
    Raises ``InputRefusal`` naming file, place, value and remedy where a profile cannot be read, shows
    nothing to measure, or belongs to another job than the first.
    """
    settings = KinetoSettings() if settings is None else settings
    files = [Path(path) for path in paths]
    if not files:
        raise InputRefusal("", "no profile is given", "name one profile or more")
    table = CommunicationKernels(settings.kernel_rules)
    reads: list[RankRead] = []
    with ThreadPoolExecutor(1) as beside:  # hashing and decoding run on two cores
        digests = beside.submit(source_files, files)
        for path in files:
            reads += read_members(path, PROFILES, lambda member: _timeline(member, settings, table, communicates))
    known = [read.calls for read in reads if read.calls is not None]
    if known:
        check_same_job(known)
    if len(known) == len(reads):
        reads.sort(key=lambda read: read.timeline.rank or 0)
    return Timelines(tuple(reads), digests.result())


def _timeline(member: Member, settings: KinetoSettings, table: CommunicationKernels, communicates: bool) -> RankRead:
    profile = read_profile(member.name, member.stream, settings.repair)
    return rank_timeline(profile, settings, table, communicates=communicates)
