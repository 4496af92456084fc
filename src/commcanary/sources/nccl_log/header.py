"""What the header of a trace from NCCL's debug logs says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commcanary.artifacts.trace import TraceHeader
from commcanary.sources.calls.unknown import unknown_fields
from commcanary.sources.files import source_files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from commcanary.artifacts.trace import Coverage
    from commcanary.sources.calls.clocks import Clock
    from commcanary.sources.calls.merging import Merged
    from commcanary.sources.calls.rank_calls import RankCalls
    from commcanary.sources.calls.seating import Seating
    from commcanary.sources.nccl_log.log_records import LogRecords
    from commcanary.sources.nccl_log.settings import NcclLogSettings

NO_DURATION = "a line is written when the host enqueues a call: nothing says when it ran"


def trace_header(
    paths: Sequence[Path],
    logs: Sequence[LogRecords],
    ranks: Sequence[RankCalls],
    torn: Sequence[Coverage],
    seating: Seating,
    clock: Clock,
    merged: Merged,
    told: Sequence[str],
    untimed: str | None,
    settings: NcclLogSettings,
) -> TraceHeader:
    """The header; ``torn`` are rows of the account for torn lines, ``untimed`` says why there are no times."""
    versions = sorted({log.version for log in logs if log.version is not None})
    system: dict[str, Any] = {
        "backend": "nccl",
        "nccl_version": versions[0] if len(versions) == 1 else versions or None,
        "world_size": seating.size,
        "profiled_ranks": [calls.job.rank for calls in ranks],
        "clock": clock.said or None,
    }
    declared = settings.assume_default_group and any(
        communicator.name is None for log in logs for communicator in log.communicators.known
    )
    notes: dict[str, Any] = {
        "ranks": "stated by the user" if settings.ranks and declared else seating.how,
        "order": "that in which each host enqueued its calls; nothing orders different communicators between ranks",
    }
    if len(ranks) == len(logs):
        base = {log.name: log.base for log in logs}
        notes["files_of_ranks"] = {str(calls.job.rank): base[calls.name] for calls in ranks}
    if untimed is None:
        notes["arrival"] = "when the host enqueued the call (the time before its line)"
    if told:
        notes["counts"] = list(told)
    notes |= merged.differences
    return TraceHeader(
        workload={"name": settings.workload_name or "NCCL debug log"},
        system={key: value for key, value in system.items() if value is not None},
        unknown=unknown_fields(merged.events, merged.start_ns, _reasons(len(ranks), untimed)),
        assumptions={"default_group": 1.0} if declared else {},
        coverage=(*(row for calls in ranks for row in calls.coverage), *torn),
        notes=notes,
        source_files=source_files(paths),
    )


def _reasons(ranks: int, untimed: str | None) -> dict[str, str]:
    """Why events of so many ``ranks`` may not know a field."""
    arrivals = untimed
    if arrivals is None:
        arrivals = "clocks of the hosts are not known to agree; declare or give them"
        if ranks == 1:
            arrivals = "one rank's log was given"
    return {
        "start_us": f"{untimed}",
        "gap_us": f"{untimed}; rows carry 0, and a replay that needs gaps refuses",
        "rank_arrival_us": arrivals,
        "compute_before_us": NO_DURATION,
        "rank_compute_before_us": NO_DURATION,
        "compute_overlap_us": NO_DURATION,
        "observed_exposed_us": NO_DURATION,
        "phase": "lines do not name phases",
        "reduction_op": "the operator is one that the job made, or ranks differ",
        "in_elements": "sizes differ from rank to rank",
    }
