"""``read_nsys_timelines``: exports -> what ran on their devices, also where no payload says how much was sent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from commcanary.artifacts.events import ProcessGroup, Signature
from commcanary.errors import InputRefusal
from commcanary.sources.calls.clocks import ClockChoice
from commcanary.sources.files import check_distinct, reading, source_files
from commcanary.sources.nsys.communicators import Process, communicators_of
from commcanary.sources.nsys.database import LATEST_NS, UNKNOWN, Export, export_command, opened
from commcanary.sources.nsys.device_rows import DeviceRows, device_rows
from commcanary.sources.nsys.exchanges import exchanges_of
from commcanary.sources.nsys.kinds import kinds_of, numbered, operations_of
from commcanary.sources.nsys.process_calls import messages_of, process_calls
from commcanary.sources.nsys.process_times import process_times, withheld
from commcanary.sources.nsys.ranges import PUSH_POP, NcclRanges, nccl_ranges, phase_ranges, ranges_around
from commcanary.sources.nsys.ranks import rank_calls
from commcanary.sources.nsys.read import read_export
from commcanary.sources.nsys.windows import Windows, launch_windows
from commcanary.timeline.communication_kernels import CommunicationKernels
from commcanary.timeline.kernels import Kernels, Lane
from commcanary.timeline.rank_timeline import Calls, DeviceTimeline, Ranges, RankTimeline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from commcanary.artifacts.stored import SourceFile
    from commcanary.sources.calls.rank_calls import RankCalls
    from commcanary.sources.nsys.process_calls import ProcessCalls
    from commcanary.sources.nsys.settings import NsysSettings

    Ints = NDArray[np.int64]

_BETWEEN = " > "
NOTHING = np.zeros(0, np.int64)


@dataclass(frozen=True)
class NsysRead:
    """The timeline of one process and, where they can be read, the calls behind it."""

    timeline: RankTimeline
    calls: RankCalls | None


@dataclass(frozen=True)
class NsysTimelines:
    """A read for each process of each export, in order of rank where ranks are known, and the files.

    ``clock`` says how times of the processes may be compared: those of ``one_session`` are on one clock.
    """

    reads: tuple[NsysRead, ...]
    files: tuple[SourceFile, ...]
    clock: ClockChoice
    one_session: bool


@dataclass(frozen=True)
class _Called:
    """The calls of an export's processes where they can be read; else ``why`` not."""

    calls: dict[int, ProcessCalls]
    columns: dict[int, RankCalls]
    sites: dict[int, tuple[str, ...]]
    world: int | None
    why: str


def is_export(path: Path) -> bool:
    """Whether the file is a database, as exports of Nsight Systems are."""
    try:
        with path.open("rb") as stream:
            return stream.read(15) == b"SQLite format 3"
    except OSError:
        return False


def read_nsys_timelines(paths: Sequence[Path | str], settings: NsysSettings) -> NsysTimelines:
    """Timelines of the exports of one job. Sizes, ranks and rates need payloads; lanes, sites and phases do not.

    Times are ns of the session. Raises ``InputRefusal`` naming file, place, value and remedy where an export
    cannot be read or lists no kernel.
    """
    files = [Path(path) for path in paths]
    stated = source_files(files)
    check_distinct(files, stated)
    settings = replace(settings, on_error="skip")
    table = CommunicationKernels(settings.kernel_rules)
    called = _called(files, settings, table)
    found: list[NsysRead] = []
    for path, calls in zip(files, called, strict=True):
        with reading(path), opened(path) as export:
            found += _timelines(export, calls, settings, table)
    if all(read.timeline.rank is not None for read in found):
        found.sort(key=lambda read: read.timeline.rank or 0)
    choice = settings.clock
    declared = choice.shared or choice.offsets_us or choice.estimate
    one_session = not declared and len(files) == 1
    clock = ClockChoice(shared=True) if one_session else choice
    return NsysTimelines(tuple(found), stated, clock, one_session)


def _called(files: Sequence[Path], settings: NsysSettings, table: CommunicationKernels) -> list[_Called]:
    """The calls of all exports together, for their communicators are common."""
    try:
        reads = []
        for path in files:
            with reading(path):
                reads.append(read_export(path, settings, table))
        communicators = communicators_of(reads, settings)
    except InputRefusal as refusal:
        return [_Called({}, {}, {}, None, f"{refusal.place}: {refusal.found}; {refusal.remedy}")] * len(files)
    windows = [launch_windows(read.ranges) for read in reads]
    messages = {p: messages_of(reads[p.export], p, windows[p.export]) for p in communicators.rank_of}
    exchanges = exchanges_of(messages, communicators)
    own = {p: process_calls(reads[p.export], p, communicators, exchanges.get(p, ())) for p in communicators.rank_of}
    timed = {p: process_times(reads[p.export], calls, windows[p.export])[:2] for p, calls in own.items()}
    closes = all(counts.closes for p, (_, counts) in timed.items() if own[p].calls or counts.kernels)
    result = [_Called({}, {}, {}, communicators.world, "") for _ in reads]
    for p, calls in own.items():
        read, times = reads[p.export], timed[p][0]
        called = result[p.export]
        called.calls[p.number] = calls
        called.columns[p.number] = rank_calls(
            read, calls, times if closes else withheld(times), communicators, settings
        )
        called.sites[p.number] = tuple(_BETWEEN.join(read.around[i]) for i in calls.range)
    return result


def _timelines(export: Export, called: _Called, settings: NsysSettings, table: CommunicationKernels) -> list[NsysRead]:
    strings = export.strings()
    rows = device_rows(export, strings, table)
    if rows is None:
        raise InputRefusal(
            "CUPTI_ACTIVITY_KIND_KERNEL",
            "lists no kernel: there is nothing to measure",
            f"profile with nsys profile --trace=cuda,nvtx, then {export_command(export.path)}",
        )
    events = export.table("NVTX_EVENTS")
    ranges = None if events is None else nccl_ranges(export, events, strings)
    windows = None if ranges is None else launch_windows(ranges)
    communicating = np.flatnonzero((rows.lane == Lane.COMMUNICATION) & (rows.thread != UNKNOWN))
    names = ranges_around(export, events, strings, rows.thread[communicating], rows.launch[communicating])
    count = len(rows.start)
    at = count + np.cumsum([0, *(len(words) for words in called.sites.values())])
    of_calls = dict(zip(called.sites, at.tolist(), strict=False))
    words = [*(_BETWEEN.join(names_of) for names_of in names), *(w for own in called.sites.values() for w in own)]
    site, sites = numbered(int(at[-1]), np.concatenate([communicating, np.arange(count, int(at[-1]))]), words)
    known = np.flatnonzero(rows.thread != UNKNOWN)
    said = phase_ranges(export, events, strings, settings.phase_annotations).of(rows.thread[known], rows.launch[known])
    phase, phases = numbered(len(rows.start), known, [settings.phase or name or "" for name in said])
    held = np.full(len(rows.start), UNKNOWN, np.int64)
    if windows is not None:
        held = windows.containing(rows.thread, rows.launch)
    read = {p: _calls(called.calls.get(p), ranges, windows, held, rows, p) for p in np.unique(rows.process).tolist()}
    marks = dict(zip(communicating.tolist(), names, strict=True))
    kind, kinds = kinds_of(rows, ranges, windows, held, marks, operations_of(read))
    job = _job_ranges(export, strings)
    end = max([int(rows.end.max()), *job.end[-1:].tolist()])
    found = []
    for process, (calls, behind) in read.items():
        mine = rows.process == process
        own, columns = called.calls.get(process), called.columns.get(process)
        if calls is not None:
            first = of_calls[process]
            calls = replace(calls, site=site[first : first + len(calls)])
        kernels = Kernels(
            start=rows.start,
            end=rows.end,
            lane=rows.lane,
            name=rows.name,
            stream=rows.stream,
            rule=rows.rule,
            kind=kind,
            group=_groups_of(behind, calls),
            site=site[:count],
            phase=phase,
            call=behind,
            launch=rows.launch,
            step=np.full(len(rows.start), UNKNOWN, np.int64),
        )
        devices = [
            DeviceTimeline(str(device), kernels.where(mine & (rows.device == device)))
            for device in np.unique(rows.device[mine]).tolist()
        ]
        pid = Process(0, process).pid if process != UNKNOWN else UNKNOWN
        found.append(
            NsysRead(
                RankTimeline(
                    name=export.path.name if process == UNKNOWN else f"{export.path.name}, process {pid}",
                    rank=None if columns is None else columns.job.rank,
                    world=called.world,
                    lanes="device",
                    base_ns=None,
                    session_start=0,
                    session_end=end,
                    devices=tuple(devices),
                    steps=Ranges((), NOTHING, NOTHING),
                    ranges=job,
                    calls=calls,
                    no_calls=called.why or ("" if own is not None else "no NCCL range of the process"),
                    refused_calls=0
                    if own is None
                    else sum(n for (_, fate, _), n in own.left.items() if fate == "refused"),
                    names=rows.names,
                    rules=rows.rules,
                    kinds=kinds,
                    groups=() if calls is None else tuple(group.name for group in calls.groups),
                    sites=sites,
                    phases=phases,
                ),
                columns,
            )
        )
    return found


def _calls(
    own: ProcessCalls | None,
    ranges: NcclRanges | None,
    windows: Windows | None,
    held: Ints,
    rows: DeviceRows,
    process: int,
) -> tuple[Calls | None, Ints]:
    """The process' calls, and int64[n]: the call behind each kernel where one call alone launched it."""
    behind = np.full(len(held), UNKNOWN, np.int64)
    if own is None or ranges is None or windows is None:
        return None, behind
    chosen = np.asarray(own.range, np.int64)
    window = windows.of_range[chosen] if len(chosen) else NOTHING
    numbers, first, shared = np.unique(window, return_index=True, return_counts=True)
    call_of = dict(zip(numbers[shared == 1].tolist(), first[shared == 1].tolist(), strict=True))
    mine = (rows.process == process) & (rows.lane == Lane.COMMUNICATION) & (held != UNKNOWN)
    for row in np.flatnonzero(mine).tolist():
        behind[row] = call_of.get(int(held[row]), UNKNOWN)
    groups: dict[ProcessGroup, int] = {}
    signatures: dict[Signature, int] = {}
    number = []
    for call in own.calls:
        if call.group is not None and call.signature is not None:  # taken calls have both
            group = groups.setdefault(call.group, len(groups))
            signature = msgspec.structs.replace(call.signature, group=group)
            number.append(signatures.setdefault(signature, len(signatures)))
    unknown = np.full(len(number), UNKNOWN, np.int64)
    calls = Calls(
        groups=tuple(groups),
        signatures=tuple(signatures),
        signature=np.asarray(number, np.int64),
        issue=ranges.start[chosen] if len(chosen) else NOTHING,
        site=unknown,
        phase=unknown,
        step=unknown,
        event=ranges.row[chosen] if len(chosen) else NOTHING,
    )
    return calls, behind


def _groups_of(behind: Ints, calls: Calls | None) -> Ints:
    if calls is None or not len(calls):
        return np.full(len(behind), UNKNOWN, np.int64)
    group = np.asarray([signature.group for signature in calls.signatures], np.int64)[calls.signature]
    return np.append(group, UNKNOWN)[behind]


def _job_ranges(export: Export, strings: dict[int, str]) -> Ranges:
    """The job's own named ranges: not NCCL's, and not the operators that PyTorch's ``emit_nvtx`` numbers."""
    table = export.table("NVTX_EVENTS")
    if table is None or not {"start", "end", "eventType"} <= table.columns:
        return Ranges((), NOTHING, NOTHING)
    text = "text" if "text" in table.columns else "NULL"
    text_id = "textId" if "textId" in table.columns else "NULL"
    found = export.rows(
        f'SELECT start, end, {text}, {text_id} FROM "{table.name}" WHERE eventType = {PUSH_POP} AND end IS NOT NULL '
        f"AND ({text} IS NULL OR {text} NOT LIKE '%op_id = %') ORDER BY start, rowid",
        table.name,
    )
    kept = []
    for start, end, said, key in found:
        name = strings.get(key, "") if said is None else str(said)
        fits = isinstance(start, int) and isinstance(end, int) and -LATEST_NS < start <= end < LATEST_NS
        if fits and name and not name.startswith(("nccl", "pnccl")):
            kept.append((name, start, end))
    return Ranges(
        tuple(name for name, _, _ in kept),
        np.asarray([start for _, start, _ in kept], np.int64),
        np.asarray([end for _, _, end in kept], np.int64),
    )
