"""What the header of a trace from Inspector files says."""

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
    from commcanary.sources.nccl_inspector.file_records import FileRecords
    from commcanary.sources.nccl_inspector.settings import NcclInspectorSettings

NO_TIMES = "records say no times of calls; NCCL_INSPECTOR_DUMP_VERBOSE=1 adds them"
NO_COMPUTE = "the Inspector sees communication alone"
NOT_HIDDEN = "records say how long a call ran (metadata execution_us), not how much of it compute hid"


def trace_header(
    paths: Sequence[Path],
    files: Sequence[FileRecords],
    ranks: Sequence[RankCalls],
    missing: Sequence[Coverage],
    seating: Seating,
    clock: Clock,
    merged: Merged,
    told: Sequence[str],
    timed: bool,
    settings: NcclInspectorSettings,
) -> TraceHeader:
    """The header; ``missing`` are rows of the account for calls without a record, ``told`` the counts in words."""
    system: dict[str, Any] = {
        "backend": "nccl",
        "world_size": seating.size,
        "profiled_ranks": [calls.job.rank for calls in ranks],
        "clock": clock.said or None,
    }
    names = {name: of for file in files for name, of in file.names.items()}
    notes: dict[str, Any] = {
        "formats": sorted({version for file in files for version in file.versions}),
        "ranks": seating.how,
        "bytes": "the message size, times the ranks for all-gather and reduce-scatter, as nccl-tests counts",
    }
    if len(ranks) == len(files):
        base = {file.name: file.base for file in files}
        notes["files_of_ranks"] = {str(calls.job.rank): base[calls.name] for calls in ranks}
    if names:
        notes["communicator_names"] = names
    if told:
        notes["counts"] = list(told)
    if timed:
        notes["arrival"] = "when the host launched the call (coll_start_ts, p2p_start_ts)"
    else:
        notes["order"] = "that in which calls of a communicator ended; dumps alone order one communicator by another"
    if merged.reordered:
        notes["order_differs"] = f"{merged.reordered} events ended in another order on some rank"
    return TraceHeader(
        workload={"name": settings.workload_name or "NCCL Inspector records"},
        system={key: value for key, value in system.items() if value is not None},
        unknown=unknown_fields(merged.events, merged.start_ns, _reasons(len(ranks), timed)),
        coverage=(*(row for calls in ranks for row in calls.coverage), *missing),
        notes=notes,
        source_files=source_files(paths),
    )


def _reasons(ranks: int, timed: bool) -> dict[str, str]:
    """Why events of so many ``ranks`` may not know a field."""
    arrivals = NO_TIMES
    if timed:
        arrivals = "clocks of the hosts are not known to agree; declare or give them"
        if ranks == 1:
            arrivals = "one rank's file was given"
    return {
        "start_us": NO_TIMES,
        "gap_us": f"{NO_TIMES}; rows carry 0, and a replay that needs gaps refuses",
        "rank_arrival_us": arrivals,
        "compute_before_us": NO_COMPUTE,
        "rank_compute_before_us": NO_COMPUTE,
        "compute_overlap_us": NO_COMPUTE,
        "observed_exposed_us": NOT_HIDDEN,
        "phase": "records do not name phases",
        "dtype": "records give bytes, no element type",
        "in_elements": "records give bytes, no element counts",
        "out_elements": "records give bytes, no element counts",
        "reduction_op": "records do not state it",
        "root_rank": "records do not state it",
    }
