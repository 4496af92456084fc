"""``import_nccl_inspector``: files of one process or of all processes of a job -> one trace."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from commcanary.errors import InputRefusal
from commcanary.sources.calls.account import but_seen
from commcanary.sources.calls.call import Fate
from commcanary.sources.calls.clocks import clock_of
from commcanary.sources.calls.imported import Imported
from commcanary.sources.calls.matching import matched
from commcanary.sources.calls.merging import merged_events
from commcanary.sources.calls.program_order import untimed
from commcanary.sources.containers import Member, MemberNames, read_members
from commcanary.sources.files import check_distinct, of_all, source_files
from commcanary.sources.nccl_inspector.dumps import dumps_told
from commcanary.sources.nccl_inspector.durations import duration_metadata, durations_told
from commcanary.sources.nccl_inspector.header import trace_header
from commcanary.sources.nccl_inspector.numbering import aligned
from commcanary.sources.nccl_inspector.order import in_order
from commcanary.sources.nccl_inspector.processes import processes_of
from commcanary.sources.nccl_inspector.rank_calls import rank_calls
from commcanary.sources.nccl_inspector.rank_records import rank_records
from commcanary.sources.nccl_inspector.reading import read_records
from commcanary.sources.nccl_inspector.settings import NcclInspectorSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commcanary.sources.nccl_inspector.file_records import FileRecords

RECORDS = MemberNames("files of NCCL_INSPECTOR_DUMP_DIR", (".log", ".jsonl", ".json"))


def import_nccl_inspector(paths: Sequence[Path | str], settings: NcclInspectorSettings | None = None) -> Imported:
    """The trace of the operations that the Inspector files of one process, or of all processes of a job, recorded.

    Records of different ranks are paired by communicator, operation and NCCL's number. Calls start when the host
    launched them, where the records are verbose; else their order is all that is known of their time. Raises
    ``InputRefusal`` naming file, place, value and remedy for what cannot be read for certain.
    """
    settings = NcclInspectorSettings() if settings is None else settings
    given = [Path(path) for path in paths]
    if not given:
        raise InputRefusal("", "no file is given", "name one or more")
    files = [file for path in given for file in read_members(path, RECORDS, lambda member: _read(member, settings))]
    check_distinct(given, source_files(given))
    with of_all(given, "files"):
        return _imported(given, files, settings)


def _read(member: Member, settings: NcclInspectorSettings) -> FileRecords:
    file = read_records(member, settings.on_error)
    if not file.seats:
        raise InputRefusal(
            "line 1", "holds no record of the Inspector", "give files of NCCL_INSPECTOR_DUMP_DIR, written as JSON lines"
        )
    return file


def _imported(paths: Sequence[Path], files: Sequence[FileRecords], settings: NcclInspectorSettings) -> Imported:
    processes, seating = processes_of(files, settings.process_group)
    ranks = [
        rank_records(files[process.file], process, rank, seating, settings)
        for process, rank in zip(processes, seating.rank_of, strict=True)
    ]
    pairs = aligned(ranks, seating)
    orders = in_order(ranks, pairs)
    calls = [
        rank_calls(records, process, own, outside, seating, settings.phase)
        for records, process, own, outside in zip(ranks, processes, orders, pairs.outside, strict=True)
    ]
    fates = sum((of.fates for of in calls), Counter[Fate]())
    if not any(len(of) for of in calls):
        raise InputRefusal(
            "coll_perf",
            "nothing to import: no record of a call that moves data" + but_seen(fates),
            "record every rank of one job, with rings that hold what happens between two dumps",
        )
    groups = matched(calls)
    timed = not untimed(calls)
    if not timed and settings.clock.given:
        raise InputRefusal(
            "event_trace_ts",
            "is missing in some records, so there are no times to compare",
            "record with NCCL_INSPECTOR_DUMP_VERBOSE=1, or leave the clock option out",
        )
    clock = clock_of(calls, groups, settings.clock)
    merged = merged_events(calls, groups, clock)
    told = [*pairs.told, *dumps_told(ranks), *durations_told(ranks)]
    header = trace_header(paths, files, calls, pairs.coverage, seating, clock, merged, told, timed, settings)
    metadata = duration_metadata(ranks, orders, groups, merged.position)
    return Imported.of(header, merged, fates, told, metadata)
