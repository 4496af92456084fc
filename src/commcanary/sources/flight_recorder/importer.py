"""``import_flight_recorder``: dumps of one rank or of all ranks -> one trace."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from commcanary.artifacts.events import UNKNOWN
from commcanary.artifacts.files import read_bytes
from commcanary.artifacts.trace import Coverage, TraceHeader
from commcanary.errors import InputRefusal, Refusal, UsageError
from commcanary.sources.calls.account import but_seen
from commcanary.sources.calls.call import Call, Fate
from commcanary.sources.calls.clocks import clock_of
from commcanary.sources.calls.imported import Imported
from commcanary.sources.calls.job import Job
from commcanary.sources.calls.matching import check_same_job, matched
from commcanary.sources.calls.merging import merged_events
from commcanary.sources.calls.rank_calls import Places
from commcanary.sources.calls.unknown import unknown_fields
from commcanary.sources.calls.without_times import rank_calls_of
from commcanary.sources.files import of_all, source_files
from commcanary.sources.flight_recorder.calls import RULE, call_of_entry, groups_of
from commcanary.sources.flight_recorder.dump import gaps_in_operations, lost_calls, rank_in_name, read_dump
from commcanary.sources.flight_recorder.settings import FlightRecorderSettings
from commcanary.sources.flight_recorder.window import RankEntries, cut_to_window

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commcanary.sources.calls.clocks import Clock
    from commcanary.sources.calls.merging import Merged
    from commcanary.sources.calls.rank_calls import RankCalls

NO_LATENCY = "the recorder's watchdog looks every 100 ms: no latency follows from it"
PLACES = Places("entries", "the file's name", "pg_config", "profiling_name", "pg_config")


def import_flight_recorder(paths: Sequence[Path | str], settings: FlightRecorderSettings | None = None) -> Imported:
    """The trace of the calls that the rings of all given dumps (JSON or pickle, one a rank) still hold.

    Calls start when the host issued them; nothing else is known of their time. Raises ``InputRefusal`` naming file,
    place, value and remedy for what cannot be read for certain.
    """
    settings = FlightRecorderSettings() if settings is None else settings
    files = [Path(path) for path in paths]
    if not files:
        raise InputRefusal("", "no dump is given", "name one dump or more")
    if settings.ranks and len(settings.ranks) != len(files):
        raise UsageError(f"--rank is given {len(settings.ranks)} times for {len(files)} dumps; give it once for each")
    dumps, notes, backends = [], {}, []
    for at, path in enumerate(files):
        try:
            dump, renamed, backend = _read(path, settings.ranks[at] if settings.ranks else None, settings)
        except Refusal as refusal:
            raise refusal.in_file(str(path)) from refusal.__cause__
        dumps.append(dump)
        backends.append(backend)
        if renamed is not None:
            notes["groups"] = (
                f"pg_config lists one group without a name: it is taken for {renamed!r}, the only one called on"
            )
    told = cut_to_window(dumps)
    ranks = [
        rank_calls_of(
            list(enumerate(dump.calls)),
            Job(dump.rank, None, backend, (), None),
            path.name,
            PLACES,
            settings.phase,
            [entry.time_created_ns for entry in dump.entries],
        )
        for dump, path, backend in zip(dumps, files, backends, strict=True)
    ]
    ranks = [_numbered(calls, dump) for calls, dump in zip(ranks, dumps, strict=True)]
    with of_all(files, "dumps"):
        return _imported(files, dumps, ranks, notes, told, settings)


def _read(
    path: Path, given: int | None, settings: FlightRecorderSettings
) -> tuple[RankEntries, str | None, str | None]:
    """The entries of a dump with their calls, the name given to an unnamed group, and the backend."""
    dump = read_dump(read_bytes(path))
    rank = rank_in_name(path.name) if given is None else given
    if rank is None:
        raise InputRefusal(
            "name", f"{path.name!r} does not end in the rank", "state it with --rank, once for each dump"
        )
    groups = groups_of(dump)
    job = Job(rank, None, None, (), None)
    calls = []
    for number, entry in enumerate(dump.entries):
        try:
            calls.append(call_of_entry(entry, groups, job, settings, f"entries[{number}]"))
        except InputRefusal as refusal:
            if settings.on_error == "stop":
                raise
            calls.append(Call(Fate.REFUSED, RULE, refusal.found))
    backend = next((e.profiling_name.partition(":")[0] for e in dump.entries if ":" in e.profiling_name), None)
    return RankEntries(rank, dump.entries, calls, lost_calls(dump.entries)), groups.renamed, backend


def _numbered(calls: RankCalls, dump: RankEntries) -> RankCalls:
    """The calls with their groups' numbers for collectives, and what the ring and its gaps show in the account."""
    numbers = [
        UNKNOWN if dump.entries[at].is_p2p else max(dump.entries[at].collective_seq_id, UNKNOWN)
        for at in calls.event.tolist()
    ]
    rows = list(calls.coverage)
    if dump.lost:
        reason = "overwritten in the ring before the dump"
        rows.append(Coverage(dump.rank, "call before the ring's first", dump.lost, 0, unknown=dump.lost, reason=reason))
    for group, missing in sorted(gaps_in_operations(dump.entries).items()):
        shown = ", ".join(map(str, missing[:8])) + (", ..." if len(missing) > 8 else "")
        reason = f"process group {group!r}: op_id {shown} has no entry (gloo records no send or receive)"
        rows.append(
            Coverage(dump.rank, "operation without an entry", len(missing), 0, unknown=len(missing), reason=reason)
        )
    return replace(calls, sequence=np.asarray(numbers, np.int64), coverage=tuple(rows))


def _imported(
    files: Sequence[Path],
    dumps: Sequence[RankEntries],
    ranks: Sequence[RankCalls],
    notes: dict[str, Any],
    told: Sequence[str],
    settings: FlightRecorderSettings,
) -> Imported:
    check_same_job(ranks)
    fates = sum((calls.fates for calls in ranks), Counter[Fate]())
    if not any(len(calls) for calls in ranks):
        raise InputRefusal(
            "entries",
            "nothing to import: no call that moves data" + but_seen(fates),
            "dump while the ring holds calls (TORCH_FR_BUFFER_SIZE), on every rank at the same step",
        )
    groups = matched(ranks)
    clock = clock_of(ranks, groups, settings.clock)
    merged = merged_events(ranks, groups, clock)
    counts = list(told)
    for calls in ranks:
        counts += [
            f"rank {row.rank}: {row.unknown} x {row.rule}: {row.reason}" for row in calls.coverage if row.unknown
        ]
    header = _header(files, dumps, ranks, clock, merged, notes, told, settings)
    return Imported.of(header, merged, fates, counts)


def _header(
    files: Sequence[Path],
    dumps: Sequence[RankEntries],
    ranks: Sequence[RankCalls],
    clock: Clock,
    merged: Merged,
    notes: dict[str, Any],
    told: Sequence[str],
    settings: FlightRecorderSettings,
) -> TraceHeader:
    system: dict[str, Any] = {
        "backend": ranks[0].job.backend,
        "profiled_ranks": [calls.job.rank for calls in ranks],
        "clock": clock.said or None,
    }
    pending = {str(d.rank): n for d in dumps if (n := sum(e.state not in ("completed", "") for e in d.entries))}
    notes = {
        **notes,
        "arrival": "when the host issued the call (time_created_ns)",
        "ranks": "stated by the user" if settings.ranks else "the number that each file's name ends in",
        "files_of_ranks": {str(calls.job.rank): calls.name for calls in ranks},
    }
    if told:
        notes["window"] = list(told)
    if pending:
        notes["not_seen_completed"] = pending
    notes |= merged.differences
    return TraceHeader(
        workload={"name": settings.workload_name or "flight recorder dump"},
        system={key: value for key, value in system.items() if value is not None},
        unknown=unknown_fields(merged.events, merged.start_ns, _reasons(len(ranks))),
        coverage=tuple(row for calls in ranks for row in calls.coverage),
        notes=notes,
        source_files=source_files(files),
    )


def _reasons(ranks: int) -> dict[str, str]:
    """Why events of so many ``ranks`` may not know a field."""
    return {
        "rank_arrival_us": (
            "one rank's dump was given"
            if ranks == 1
            else "clocks of the hosts are not known to agree; declare or give them"
        ),
        "compute_before_us": "the recorder sees calls alone",
        "rank_compute_before_us": "the recorder sees calls alone",
        "compute_overlap_us": NO_LATENCY,
        "observed_exposed_us": NO_LATENCY,
        "phase": "entries do not name phases",
        "reduction_op": "entries do not state it",
        "root_rank": "entries do not state it",
        "in_elements": "sizes differ from rank to rank",
    }
