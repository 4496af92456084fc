"""``import_nccl_log``: debug logs of one process or of all processes of a job -> one trace."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from commcanary.errors import InputRefusal
from commcanary.sources.calls.account import but_seen, coverage_row
from commcanary.sources.calls.call import Fate
from commcanary.sources.calls.clocks import clock_of
from commcanary.sources.calls.imported import Imported
from commcanary.sources.calls.job import Job
from commcanary.sources.calls.matching import matched
from commcanary.sources.calls.merging import merged_events
from commcanary.sources.calls.rank_calls import Places
from commcanary.sources.calls.without_times import rank_calls_of
from commcanary.sources.containers import Member, MemberNames, read_members
from commcanary.sources.files import check_distinct, of_all, source_files
from commcanary.sources.nccl_log.calls import calls_of, own_operators
from commcanary.sources.nccl_log.header import trace_header
from commcanary.sources.nccl_log.log_records import read_log
from commcanary.sources.nccl_log.processes import processes_of
from commcanary.sources.nccl_log.settings import NcclLogSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commcanary.sources.calls.rank_calls import RankCalls
    from commcanary.sources.calls.seating import Seating
    from commcanary.sources.nccl_log.log_records import LogRecords
    from commcanary.sources.nccl_log.processes import Process

PLACES = Places("line", "rank", "nranks", "process", "comm")
TORN = "torn line"
LOGS = MemberNames("logs")
"""Whatever their names: ``NCCL_DEBUG_FILE`` often ends in the number of the process."""


def import_nccl_log(paths: Sequence[Path | str], settings: NcclLogSettings | None = None) -> Imported:
    """The trace of the calls in the debug logs of one process, or of all processes of a job.

    Calls of different ranks are paired in order within each communicator. Calls start when their lines were written,
    where these have times; nothing is known of how long they ran. Raises ``InputRefusal`` naming file, place, value
    and remedy for what cannot be read for certain, and the first call at which two ranks diverge.
    """
    settings = NcclLogSettings() if settings is None else settings
    given = [Path(path) for path in paths]
    if not given:
        raise InputRefusal("", "no log is given", "name one or more")
    logs = [log for path in given for log in read_members(path, LOGS, lambda member: _read(member, settings))]
    check_distinct(given, source_files(given))
    with of_all(given, "logs"):
        return _imported(given, logs, settings)


def _read(member: Member, settings: NcclLogSettings) -> LogRecords:
    log = read_log(member, settings.on_error)
    if not log.kinds:
        raise InputRefusal(
            "text",
            "holds no line of a call",
            "log with NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,COLL, a file for each process",
        )
    return log


def _imported(paths: Sequence[Path], logs: Sequence[LogRecords], settings: NcclLogSettings) -> Imported:
    processes, seating = processes_of(logs, settings)
    untimed = next((log.why_untimed for log in logs if log.why_untimed), None)
    if untimed is not None and settings.clock.given:
        raise InputRefusal("time", f"is not known: {untimed}", "or leave the clock option out")
    ranks = [
        _rank_calls(logs[process.log], process, rank, seating, untimed is None, settings)
        for process, rank in zip(processes, seating.rank_of, strict=True)
    ]
    torn = [
        coverage_row(seating.rank_of[at], TORN, Fate.REFUSED, reason, count)
        for at, process in enumerate(processes)
        if process.log not in {before.log for before in processes[:at]}
        for reason, count in sorted(logs[process.log].left.items())
    ]
    fates = sum((calls.fates for calls in ranks), Counter[Fate]())
    fates[Fate.REFUSED] += sum(row.refused for row in torn)
    if not any(len(calls) for calls in ranks):
        raise InputRefusal(
            "comm",
            "nothing to import: no call that moves data" + but_seen(fates),
            "log the steps of a job on every rank",
        )
    groups = matched(ranks)
    clock = clock_of(ranks, groups, settings.clock)
    merged = merged_events(ranks, groups, clock)
    told = _told(logs, processes, seating)
    header = trace_header(paths, logs, ranks, torn, seating, clock, merged, told, untimed, settings)
    return Imported.of(header, merged, fates, told)


def _rank_calls(
    log: LogRecords, process: Process, rank: int, seating: Seating, timed: bool, settings: NcclLogSettings
) -> RankCalls:
    job = Job(rank, seating.size, "nccl", (), None)
    read = calls_of(log, process, job, seating, settings)
    times = [ns for _, _, ns in read] if timed else None
    return rank_calls_of([(line, call) for line, call, _ in read], job, log.name, PLACES, settings.phase, times)


def _told(logs: Sequence[LogRecords], processes: Sequence[Process], seating: Seating) -> list[str]:
    """Operators that the job made, by rank."""
    told = []
    for process, rank in zip(processes, seating.rank_of, strict=True):
        for operator, count in sorted(own_operators(logs[process.log], process).items()):
            told.append(f"rank {rank}: {count} calls reduce with an operator of the job's own (op {operator})")
    return told
