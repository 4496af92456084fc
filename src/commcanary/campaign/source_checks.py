"""What a workload's source may not say, beyond what its types check: each at the key that says it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from commcanary.artifacts.files import SUFFIXES, check_file
from commcanary.campaign.workload_sources import (
    CaptureSource,
    ChakraSource,
    FlightRecorderSource,
    KinetoSource,
    NcclInspectorSource,
    NcclLogSource,
    NsysSource,
    Source,
    SynthSource,
    TraceSource,
)
from commcanary.errors import BudgetRefusal, InputRefusal, Refusal
from commcanary.replay.samples import check_sample_count
from commcanary.sources.synthetic.ranking_inversion import EVENTS
from commcanary.sources.synthetic.registry import DEFAULT_EVENTS, MAX_EVENTS, NAMES, size_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commcanary.campaign.config import Workload


def check_source(source: Source) -> None:
    """Raise ``InputRefusal`` naming the key of the source whose value no import can take."""
    if isinstance(source, SynthSource):
        _check_synthetic(source)
    if isinstance(source, TraceSource) and Path(source.path).suffix not in SUFFIXES:
        raise InputRefusal("path", f"is {source.path!r}", f"a trace is a file of {' or '.join(SUFFIXES)}")
    if isinstance(source, NsysSource):
        check_trim("trim_s", source.trim_s)
    if isinstance(source, ChakraSource):
        _check_ranks(source.ranks, len(source.traces))
    if isinstance(source, FlightRecorderSource):
        _check_ranks(source.ranks, len(source.dumps))
    if isinstance(source, NcclLogSource):
        _check_ranks(source.ranks, len(source.logs))
        if source.ranks and not source.assume_default_group:
            found = f"is {list(source.ranks)} without assume_default_group"
            raise InputRefusal("ranks", found, "leave it out: other logs state their ranks")
    if not isinstance(source, SynthSource | TraceSource | CaptureSource | ChakraSource):
        check_clock(source)


def check_samples(place: str, workload: Workload, runs: int) -> None:
    """Raise ``BudgetRefusal`` at ``place`` where ``runs`` replays of a workload take more samples than one may.

    Sources that are read have one event or more; how many, only their jobs know.
    """
    source = workload.source
    events = size_of(source.name, source.events, source.repeat) if isinstance(source, SynthSource) else 1
    try:
        check_sample_count(events, runs)
    except BudgetRefusal as refusal:
        refusal.place = place
        refusal.found = f"workload {workload.name}: {refusal.found}"
        raise


def check_trim(place: str, trim_s: tuple[float, float] | None) -> None:
    """Raise ``InputRefusal`` at ``place`` for a window in seconds that ends before it starts."""
    if trim_s is not None and not trim_s[0] < trim_s[1]:
        raise InputRefusal(place, f"is {list(trim_s)}", "give start and end in seconds, start below end")


def check_clock(
    source: KinetoSource | NsysSource | FlightRecorderSource | NcclInspectorSource | NcclLogSource,
) -> None:
    """Raise ``InputRefusal`` where ``clock`` and ``clock_offsets_us`` do not say one thing."""
    offsets = source.clock_offsets_us
    ranks = sorted(int(rank) for rank in offsets)
    twice = next((rank for rank, other in pairwise(ranks) if rank == other), None)
    if twice is not None:
        raise InputRefusal("clock_offsets_us", f"names rank {twice} twice", "name each rank once")
    if offsets and source.clock != "offsets":
        raise InputRefusal(
            "clock", f"is {source.clock!r} beside clock_offsets_us", "say offsets, or leave clock_offsets_us out"
        )
    if source.clock == "offsets" and not offsets:
        raise InputRefusal(
            "clock", "is 'offsets' without clock_offsets_us", "give rank -> us there, or say another clock"
        )


def check_readable(place: str, folder: Path | None, name: str) -> None:
    """Raise ``InputRefusal`` at ``place`` unless ``name`` in ``folder`` is a file that can be read and holds something.

    Nothing is asked where ``folder`` is None. Only its status is looked at, and whether it opens: digests of its
    content are taken by the jobs.
    """
    if folder is None:
        return
    path, remedy = folder / name, "paths count from the configuration file's folder"
    try:
        if not path.exists():
            raise InputRefusal(place, f"names {path}, which is not there", remedy)
        check_file(path)
        with path.open("rb"):
            pass
    except OSError as error:
        found = f"names {path}, which cannot be read ({error.strerror})"
        raise InputRefusal(place, found, "check its rights") from error
    except Refusal as refusal:
        if refusal.file is None:
            raise
        found = f"names {path}: {refusal.found}"
        raise InputRefusal(place, found, refusal.remedy) from refusal


def _check_synthetic(source: SynthSource) -> None:
    if source.name not in NAMES:
        raise InputRefusal("name", f"{source.name!r} is unknown", f"known are {', '.join(NAMES)}")
    if source.name == "ranking-inversion" and source.events not in (None, EVENTS):
        raise InputRefusal(
            "events", f"is {source.events}", f"ranking-inversion always has {EVENTS}: leave the number out"
        )
    if (source.events or DEFAULT_EVENTS) * source.repeat > MAX_EVENTS:
        found = f"makes {source.events or DEFAULT_EVENTS} events {source.repeat} times"
        raise InputRefusal("repeat", found, f"give at most {MAX_EVENTS} events in all")


def _check_ranks(ranks: Sequence[int], files: int) -> None:
    if len(set(ranks)) < len(ranks) or len(ranks) not in (0, files):
        raise InputRefusal("ranks", f"is {list(ranks)} for {files} files", "give each file its own rank, from 0 on")
