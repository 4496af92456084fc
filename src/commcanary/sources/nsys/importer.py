"""``import_nsys``: exports of Nsight Systems -> one trace."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from commcanary.artifacts.events import UNKNOWN
from commcanary.artifacts.trace import TraceHeader
from commcanary.errors import InputRefusal
from commcanary.sources.calls.call import Fate
from commcanary.sources.calls.clocks import Clock, clock_of
from commcanary.sources.calls.imported import Imported
from commcanary.sources.calls.matching import Matched, matched
from commcanary.sources.calls.merging import Merged, merged_events
from commcanary.sources.calls.unknown import unknown_fields
from commcanary.sources.files import of_all, reading, source_files
from commcanary.sources.nsys.communicators import communicators_of
from commcanary.sources.nsys.exchanges import exchanges_of
from commcanary.sources.nsys.process_calls import messages_of, process_calls
from commcanary.sources.nsys.process_times import process_times, withheld
from commcanary.sources.nsys.ranks import Rank, coverage_of, rank_calls
from commcanary.sources.nsys.read import read_export
from commcanary.sources.nsys.settings import NsysSettings
from commcanary.sources.nsys.windows import launch_windows
from commcanary.timeline.communication_kernels import CommunicationKernels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commcanary.sources.calls.clocks import ClockChoice
    from commcanary.sources.calls.rank_calls import RankCalls
    from commcanary.sources.nsys.communicators import Communicators
    from commcanary.sources.nsys.read import ExportRead


def import_nsys(paths: Sequence[Path | str], settings: NsysSettings | None = None) -> Imported:
    """The trace of one job out of the exports (``.sqlite``) of one node or of all its nodes.

    Calls come from NCCL's NVTX ranges with their payloads, times from the kernels that they launched. Raises
    ``InputRefusal`` naming file, place, value and remedy for what cannot be read for certain.
    """
    settings = NsysSettings() if settings is None else settings
    files = [Path(path) for path in paths]
    if not files:
        raise InputRefusal("", "no export is given", "name one export or more")
    table = CommunicationKernels(settings.kernel_rules)
    reads = []
    for path in files:
        with reading(path):
            reads.append(read_export(path, settings, table))
    with of_all(files, "exports"):
        return _imported(files, reads, settings)


def _imported(files: Sequence[Path], reads: Sequence[ExportRead], settings: NsysSettings) -> Imported:
    communicators = communicators_of(reads, settings)
    ranks = _ranks(reads, communicators, settings)
    calls = [rank.calls for rank in ranks]
    _check_something(ranks, reads[0].table)
    groups = matched(calls, partial=True)
    clock = _clock(len(reads), calls, groups, settings.clock)
    groups, trimmed = _trimmed(groups, ranks, settings)
    merged = merged_events(calls, groups, clock)
    header = _header(files, reads, communicators, ranks, clock, merged, trimmed, settings)
    fates = sum((rank.fates for rank in ranks), Counter[Fate]())
    counts = [f"rank {rank.counts.rank}: {rank.counts}" for rank in ranks]
    return Imported.of(header, merged, fates, counts, _metadata(merged))


def _ranks(reads: Sequence[ExportRead], communicators: Communicators, settings: NsysSettings) -> list[Rank]:
    """The calls of every process in order of rank. Times stand where the counts of every rank close."""
    windows = [launch_windows(read.ranges) for read in reads]
    processes = sorted(communicators.rank_of, key=communicators.rank_of.__getitem__)
    messages = {p: messages_of(reads[p.export], p, windows[p.export]) for p in processes}
    exchanges = exchanges_of(messages, communicators)
    found = []
    for process in processes:
        read = reads[process.export]
        own = process_calls(read, process, communicators, exchanges.get(process, ()))
        times, counts, unexplained = process_times(read, own, windows[process.export])
        found.append((read, own, times, counts, unexplained))
    closes = all(counts.closes for _, own, _, counts, _ in found if own.calls or counts.kernels)
    hidden = any(read.graph_launches for read in reads)
    ranks = []
    for read, own, times, counts, unexplained in found:
        shown = times if closes else withheld(times)
        if closes and hidden:
            unknown = np.full(len(own.calls), UNKNOWN, np.int64)
            shown = replace(shown, compute_before=unknown, overlap=unknown, exposed=unknown)
        calls = rank_calls(read, own, shown, communicators, settings)
        ranks.append(Rank(calls, own, counts, unexplained, times.busy))
    return ranks


def _check_something(ranks: Sequence[Rank], table: str) -> None:
    if any(len(rank.calls) for rank in ranks):
        return
    left = sum((rank.own.left for rank in ranks), Counter[tuple[str, Fate, str]]())
    seen = ", ".join(f"{count} {fate} ({reason})" for (_, fate, reason), count in sorted(left.items()))
    bare = sum(rank.own.unknown for rank in ranks)
    seen = ", ".join(part for part in (seen, f"{bare} without a payload" if bare else "") if part)
    raise InputRefusal(
        table,
        f"nothing to import: no call that moves data but {seen or 'none'}",
        "capture steps of a distributed job",
    )


def _clock(exports: int, calls: Sequence[RankCalls], groups: Sequence[Matched], choice: ClockChoice) -> Clock:
    if exports == 1 and not (choice.shared or choice.offsets_us or choice.estimate):
        return Clock(True, (0,) * len(calls), {"method": "one session of the profiler", "error_bound_us": 0.0})
    return clock_of(calls, groups, choice)


def _trimmed(
    groups: Sequence[Matched], ranks: Sequence[Rank], settings: NsysSettings
) -> tuple[list[Matched], Counter[int]]:
    """The events that lie inside the window on every rank, and how many calls of each rank do not."""
    window = settings.trim_ns
    out: Counter[int] = Counter()
    if window is None:
        return list(groups), out
    kept = []
    for group in groups:
        inside = np.ones(len(group), np.bool_)
        for position, chosen in zip(group.present, group.calls, strict=True):
            calls = ranks[position].calls
            end = np.where(calls.end == UNKNOWN, calls.issue, calls.end)[chosen]
            start = np.where(calls.kernel_start == UNKNOWN, calls.issue, calls.kernel_start)[chosen]
            inside &= (start >= window[0]) & (end <= window[1])
        for position in group.present:
            out[position] += int((~inside).sum())
        if inside.any():
            kept.append(replace(group, calls=group.calls[:, inside]))
    if not kept:
        raise InputRefusal(
            "--trim",
            f"no event lies inside {window[0] / 1e9:g} to {window[1] / 1e9:g} s",
            f"events lie between {_edge(ranks, min) / 1e9:.3f} and {_edge(ranks, max) / 1e9:.3f} s of the session",
        )
    return kept, out


def _edge(ranks: Sequence[Rank], which: Any) -> int:
    return int(which(which(rank.calls.issue.tolist()) for rank in ranks if len(rank.calls)))


def _metadata(merged: Merged) -> tuple[str | None, ...] | None:
    """The call site of each event, as canonical JSON."""
    if all(site is None for site in merged.sites):
        return None
    known = {
        site: msgspec.json.encode({"call_site": site}, order="deterministic").decode()
        for site in set(merged.sites)
        if site is not None
    }
    return tuple(None if site is None else known[site] for site in merged.sites)


def _header(
    files: Sequence[Path],
    reads: Sequence[ExportRead],
    communicators: Communicators,
    ranks: Sequence[Rank],
    clock: Clock,
    merged: Merged,
    trimmed: Counter[int],
    settings: NsysSettings,
) -> TraceHeader:
    system: dict[str, Any] = {
        "backend": "nccl",
        "world_size": communicators.world,
        "profiled_ranks": [rank.calls.job.rank for rank in ranks],
        "clock": clock.said or None,
    }
    declared = {
        "default_group": settings.assume_default_group and None in communicators.callers,
        "all_ranks_captured": settings.assume_all_ranks_captured,
    }
    return TraceHeader(
        workload={"name": settings.workload_name or "nsys export"},
        system={key: value for key, value in system.items() if value is not None},
        unknown=unknown_fields(merged.events, merged.start_ns, _reasons(reads, ranks, clock)),
        assumptions={name: 1.0 for name, applies in declared.items() if applies},
        coverage=tuple(row for at, rank in enumerate(ranks) for row in coverage_of(rank, trimmed[at])),
        notes=_notes(reads, communicators, ranks, merged, settings),
        source_files=source_files(files),
    )


def _notes(
    reads: Sequence[ExportRead],
    communicators: Communicators,
    ranks: Sequence[Rank],
    merged: Merged,
    settings: NsysSettings,
) -> dict[str, Any]:
    notes: dict[str, Any] = {
        "ranks": communicators.seating.how,
        "arrival": (
            "start of the launch's first NCCL kernel" if merged.on_device else "start of the call's range on the host"
        ),
        "counts": {str(rank.counts.rank): str(rank.counts) for rank in ranks},
        "files_of_ranks": {str(rank.calls.job.rank): rank.calls.name for rank in ranks},
        "tables": {read.path.name: read.table for read in reads},
        "schema_versions": {read.path.name: read.version for read in reads if read.version is not None},
    }
    if settings.trim_s is not None:
        notes["trim_s"] = list(settings.trim_s)
    notes |= merged.differences
    return notes


def _reasons(reads: Sequence[ExportRead], ranks: Sequence[Rank], clock: Clock) -> dict[str, str]:
    """Why events may not know a field."""
    odd = next((rank.counts for rank in ranks if not rank.counts.closes), None)
    graphs = sum(read.graph_launches for read in reads)
    if odd is not None:
        why = f"rank {odd.rank}: {odd}"
    elif graphs:
        why = f"{graphs:,} CUDA graphs were traced as a whole: what computed inside them is not listed"
    else:
        why = "a kernel serves several calls of one group"
    return {
        "rank_arrival_us": (
            "some member of a group is in no export given"
            if clock.known
            else "clocks of several exports are not known to agree; declare, give or estimate them"
        ),
        "compute_before_us": why,
        "rank_compute_before_us": why,
        "compute_overlap_us": why,
        "observed_exposed_us": why,
        "phase": "no range with a phase's name is around the call",
        "reduction_op": "the operator is the job's own, or the payload does not state it",
        "dtype": "NCCL's payloads give bytes, no element type",
        "in_elements": "NCCL's payloads give bytes, no element type",
        "compute_pressure": "profiles do not measure it; rows carry the format's usual 0.5",
    }
