"""``merge_shards``: the shards of one job -> one trace."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from commcanary.artifacts.events import UNKNOWN
from commcanary.artifacts.trace import Coverage, Trace, TraceHeader
from commcanary.artifacts.trace_checks import check_trace
from commcanary.errors import InputRefusal
from commcanary.sources.calls.unknown import unknown_fields
from commcanary.sources.capture.job import one_job
from commcanary.sources.capture.matching import matched
from commcanary.sources.capture.merging import Merged, merged_events
from commcanary.sources.capture.shard import Shard, read_shard
from commcanary.units import NS_PER_US

if TYPE_CHECKING:
    from collections.abc import Sequence

RULE = "recorded call"


@dataclass(frozen=True)
class Captured:
    """A trace and the calls behind it: recorded ones, and those that were seen and are no events."""

    trace: Trace
    recorded: int
    skipped: int
    unknown: int

    @property
    def summary(self) -> str:
        """The line that a command prints."""
        ranks = len({row.rank for row in self.trace.header.coverage})
        unknown = f", {self.unknown} unknown" if self.unknown else ""
        return (
            f"captured {len(self.trace)} collective events of {ranks} ranks "
            f"({self.recorded} calls, skipped {self.skipped} control{unknown})"
        )


class NothingRecorded(InputRefusal):
    """No process of the job recorded a call."""

    def __init__(self) -> None:
        super().__init__(
            "",
            "the command recorded no collective",
            "give --auto for a job that uses torch.distributed (python -I and -E switch the recorder off), call "
            "commcanary.capture.record_collective in others, or say --allow-empty",
        )


def merge_shards(paths: Sequence[Path | str], workload_name: str | None = None) -> Captured:
    """The trace of one job out of the shards of all its ranks.

    Raises ``InputRefusal`` for a file that is no shard, ``NothingRecorded`` where all are empty, and
    ``IntegrityRefusal`` naming the shards for a missing rank, a duplicate, conflicting metadata, mixed
    sessions, or ranks that made different calls.
    """
    shards = [read_shard(Path(path)) for path in paths]
    if not any(len(shard) for shard in shards):
        raise NothingRecorded
    shards = one_job(shards)
    groups = matched(shards)
    shared = _clocks_agree(shards)
    merged = merged_events(shards, groups, shared)
    trace = Trace.of(_header(shards, merged, shared, workload_name), merged.events, merged.start_ns)
    check_trace(trace.events, trace.start_ns)
    rows = trace.header.coverage
    return Captured(trace, sum(r.taken for r in rows), sum(r.skipped for r in rows), sum(r.unknown for r in rows))


def _clocks_agree(shards: Sequence[Shard]) -> bool:
    """Whether all read one clock, or all know their distance from rank 0's."""
    one = len({shard.said.clock.id for shard in shards}) == 1
    return one or all(shard.said.clock.offset_ns is not None for shard in shards)


def _header(shards: Sequence[Shard], merged: Merged, shared: bool, workload_name: str | None) -> TraceHeader:
    first = shards[0].said
    system: dict[str, Any] = {"backend": first.backend, "world_size": len(shards), "clock": _clock(shards, shared)}
    reasons = _reasons(any(k.device != "cpu" for shard in shards for k in shard.said.keys))
    return TraceHeader(
        workload={"name": workload_name or "captured job"},
        system={key: value for key, value in system.items() if value},
        unknown=unknown_fields(merged.events, merged.start_ns, reasons),
        coverage=tuple(row for shard in shards for row in _coverage(shard)),
        notes=_notes(shards, merged),
        source_files=tuple(shard.file for shard in shards),
    )


def _clock(shards: Sequence[Shard], shared: bool) -> dict[str, Any]:
    clocks = {shard.rank: shard.said.clock for shard in shards}
    if len({clock.id for clock in clocks.values()}) == 1:
        return {"method": "one clock", "error_bound_us": 0.0}
    if not shared:
        return {}
    return {
        "method": "round trips through the store when the job started; drift since then is not corrected",
        "error_bound_us": max(clock.error_ns or 0 for clock in clocks.values()) / NS_PER_US,
        "offsets_us": {str(rank): (clock.offset_ns or 0) / NS_PER_US for rank, clock in clocks.items()},
        "error_bounds_us": {str(rank): (clock.error_ns or 0) / NS_PER_US for rank, clock in clocks.items()},
    }


def _coverage(shard: Shard) -> list[Coverage]:
    """Calls of one rank by rule; a recorded call's time is that from its issue to its known completion."""
    recorded = int(np.where(shard.done == UNKNOWN, 0, shard.done - shard.issue).sum(dtype=np.float64))
    whole = recorded + sum(left.ns for left in shard.said.left_out)

    def share(ns: int) -> float | None:
        return round(ns / whole, 6) if whole else None

    rows = [Coverage(shard.rank, RULE, len(shard), len(shard), time_share=share(recorded))]
    for left in sorted(shard.said.left_out, key=lambda left: (left.rule, left.fate, left.reason)):
        skipped = left.count if left.fate == "skipped" else 0
        rows.append(
            Coverage(
                shard.rank,
                left.rule,
                left.count,
                0,
                skipped=skipped,
                unknown=left.count - skipped,
                reason=left.reason,
                time_share=share(left.ns),
            )
        )
    return rows


def _notes(shards: Sequence[Shard], merged: Merged) -> dict[str, Any]:
    notes: dict[str, Any] = {
        "arrival": "start of the call on the thread that issued it",
        "compute": "time of the issuing thread between communication calls, whatever it did; each stretch counts once",
        "files_of_ranks": {str(shard.rank): shard.path.name for shard in shards},
    }
    early = sum(int(shard.early.sum()) for shard in shards)
    if early:
        notes["completed_early"] = f"{early} calls had completed before they were waited for"
    if merged.uneven:
        notes["uneven"] = f"{merged.uneven} events have sizes that differ by rank; bytes are the largest rank's"
    return notes


def _reasons(on_device: bool) -> dict[str, str]:
    """Why events may not know a field."""
    device = "the host does not see a device's waiting, ends and compute: import a profile of the device"
    waits = "nobody in Python waited for the call, or it was issued in a coalescing block"
    not_seen = device if on_device else waits
    before = device if on_device else "the first call of a thread has no call before it"
    return {
        "rank_arrival_us": "clocks of the hosts were not compared",
        "compute_before_us": before,
        "rank_compute_before_us": before,
        "compute_overlap_us": not_seen,
        "observed_exposed_us": not_seen,
        "phase": "only gradient all-reduces of DDP say their phase",
        "reduction_op": "the operator has operands of its own, or its library did not name it",
        "dtype": "its library did not name it",
        "in_elements": "sizes differ by rank or were not named",
    }
