"""``import_kineto``: profile files -> one trace."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commcanary.artifacts.trace import TraceHeader
from commcanary.errors import InputRefusal
from commcanary.sources.calls.account import but_seen
from commcanary.sources.calls.call import Fate
from commcanary.sources.calls.clocks import Clock, clock_of
from commcanary.sources.calls.imported import Imported
from commcanary.sources.calls.job import job_of
from commcanary.sources.calls.matching import check_same_job, matched
from commcanary.sources.calls.merging import Merged, merged_events
from commcanary.sources.calls.unknown import unknown_fields
from commcanary.sources.containers import read_members
from commcanary.sources.files import of_all, source_files
from commcanary.sources.kineto.call_reader import CallReader
from commcanary.sources.kineto.rank_calls import rank_calls
from commcanary.sources.kineto.reading import PROFILES, read_profile
from commcanary.sources.kineto.settings import KinetoSettings
from commcanary.sources.kineto.unnamed import DERIVED_RULE, OPERATOR_RULE
from commcanary.timeline.communication_kernels import CommunicationKernels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commcanary.artifacts.stored import SourceFile
    from commcanary.sources.containers import Member
    from commcanary.sources.kineto.rank_calls import KinetoCalls


def import_kineto(paths: Sequence[Path | str], settings: KinetoSettings | None = None) -> Imported:
    """The trace of one job out of the profiles of one rank or of all its ranks.

    ``paths`` are profiles (``.json``, ``.json.gz``) or archives of them (``.tar.gz``). Raises
    ``InputRefusal`` naming file, place, value and remedy for what cannot be read for certain.
    """
    settings = KinetoSettings() if settings is None else settings
    files = [Path(path) for path in paths]
    if not files:
        raise InputRefusal("", "no profile is given", "name one profile or more")
    table = CommunicationKernels(settings.kernel_rules)
    ranks: list[KinetoCalls] = []
    with ThreadPoolExecutor(1) as beside:  # hashing and decoding run on two cores
        digests = beside.submit(source_files, files)
        for path in files:
            ranks += read_members(path, PROFILES, lambda member: _rank(member, settings, table))
    fates = sum((calls.fates for calls in ranks), Counter[Fate]())
    check_same_job(ranks)
    _check_something(ranks, fates, files)
    groups = matched(ranks)
    clock = clock_of(ranks, groups, settings.clock)
    merged = merged_events(ranks, groups, clock)
    return Imported.of(_header(digests.result(), ranks, clock, merged, settings), merged, fates)


def _rank(member: Member, settings: KinetoSettings, table: CommunicationKernels) -> KinetoCalls:
    profile = read_profile(member.name, member.stream, settings.repair)
    if not (profile.records or profile.operators or profile.head.distributedInfo):
        raise _nothing("no communication call and no distributedInfo")
    job = job_of(profile.head.distributedInfo, profile.head.baseTimeNanoseconds)
    return rank_calls(CallReader(profile, job, settings, table))


def _check_something(ranks: Sequence[KinetoCalls], fates: Counter[Fate], files: Sequence[Path]) -> None:
    if any(len(calls) for calls in ranks):
        return
    unknown = ", ".join(
        f"{row.unknown} x {row.rule} ({row.reason})" for c in ranks for row in c.coverage if row.unknown
    )
    found = "no communication call" + but_seen(fates)
    refusal = _nothing(f"{found}; seen: {unknown}" if unknown else found, elsewhere=fates[Fate.OTHER_GROUP] > 0)
    with of_all(files, "files"):
        raise refusal


def _nothing(found: str, *, elsewhere: bool = False) -> InputRefusal:
    """``elsewhere``: there are calls, on other process groups than the one asked for."""
    return InputRefusal(
        "traceEvents",
        f"nothing to import: {found}",
        "ask for a process group that the job has, or leave --process-group out"
        if elsewhere
        else "profile steps of a distributed job, with CPU activities and record_shapes=True",
    )


def _header(
    files: tuple[SourceFile, ...],
    ranks: Sequence[KinetoCalls],
    clock: Clock,
    merged: Merged,
    settings: KinetoSettings,
) -> TraceHeader:
    coverage = tuple(row for calls in ranks for row in calls.coverage)
    unnamed = sum(row.taken for row in coverage if row.rule in (OPERATOR_RULE, DERIVED_RULE))
    system: dict[str, Any] = {
        "backend": ranks[0].job.backend,
        "world_size": ranks[0].job.world,
        "profiled_ranks": [calls.job.rank for calls in ranks],
    }
    if clock.said:
        system["clock"] = clock.said
    return TraceHeader(
        workload={"name": settings.workload_name or "kineto profile"},
        system={key: value for key, value in system.items() if value is not None},
        unknown=unknown_fields(merged.events, merged.start_ns, _reasons(ranks)),
        assumptions={"default_group": 1.0} if settings.assume_default_group and unnamed else {},
        coverage=coverage,
        notes=_notes(ranks, clock, merged, unnamed),
        source_files=files,
    )


def _notes(ranks: Sequence[KinetoCalls], clock: Clock, merged: Merged, unnamed: int) -> dict[str, Any]:
    notes: dict[str, Any] = {
        "arrival": (
            "first start of the call's communication kernels"
            if merged.on_device
            else "start of the call on the thread that issued it"
        ),
        "start": (
            "first arrival of any rank"
            if clock.known
            else f"arrival on the first listed rank that takes part (rank {ranks[0].job.rank} where it does)"
        ),
        "files_of_ranks": {str(calls.job.rank): calls.name for calls in ranks},
    }
    if unnamed:
        notes["unnamed_groups"] = f"{unnamed} calls name no process group; theirs follows from the job's groups"
    quotes = {calls.name: calls.repaired_quotes for calls in ranks if calls.repaired_quotes}
    if quotes:
        notes["repaired_quotes"] = quotes
    notes |= merged.differences
    return notes


def _reasons(ranks: Sequence[KinetoCalls]) -> dict[str, str]:
    """Why events may not know a field."""
    one_rank = len(ranks) == 1
    host_only = "no communication kernel is linked to the calls"
    on_host = "operators on the host show neither waiting nor what ran meanwhile"
    why_device = host_only if any(calls.recorded for calls in ranks) else on_host
    return {
        "rank_arrival_us": (
            "one rank was profiled; the others' arrivals are not in the file"
            if one_rank
            else "ranks' clocks are not known to agree; declare, give or estimate them"
        ),
        "rank_compute_before_us": "one rank was profiled" if one_rank else why_device,
        "compute_before_us": why_device,
        "compute_overlap_us": why_device,
        "observed_exposed_us": why_device,
        "phase": "no annotation with a phase's name encloses the call",
        "reduction_op": "only names of NCCL kernels state it",
        "root_rank": "only operators with recorded inputs state it, or records of another rank than the root",
        "in_elements": "sizes differ from rank to rank",
        "compute_pressure": "profiles do not measure it; rows carry the format's usual 0.5",
    }
