"""``import_execution_traces``: execution traces of one rank or of all ranks -> one trace without times."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commcanary.artifacts.events import ProcessGroup
from commcanary.artifacts.trace import TraceHeader
from commcanary.errors import InputRefusal, Refusal, UsageError
from commcanary.sources.calls.account import but_seen
from commcanary.sources.calls.call import Fate
from commcanary.sources.calls.clocks import Clock
from commcanary.sources.calls.imported import Imported
from commcanary.sources.calls.job import Job
from commcanary.sources.calls.matching import check_same_job, matched
from commcanary.sources.calls.merging import merged_events
from commcanary.sources.calls.rank_calls import Places, RankCalls
from commcanary.sources.calls.unknown import unknown_fields
from commcanary.sources.calls.without_times import rank_calls_of
from commcanary.sources.containers import Member, MemberNames, read_members
from commcanary.sources.execution_trace.chakra import chakra_calls, rank_in_name
from commcanary.sources.execution_trace.nodes import Nodes, read_nodes
from commcanary.sources.execution_trace.pytorch import torch_calls, torch_job
from commcanary.sources.execution_trace.settings import ExecutionTraceSettings
from commcanary.sources.files import source_files
from commcanary.sources.kineto.unnamed import OPERATOR_RULE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commcanary.sources.calls.merging import Merged

TRACES = MemberNames("execution traces", (".json", ".et"))
NO_TIMES = "an execution trace holds no times of calls"


@dataclass(frozen=True)
class _File:
    """A file, or a member of an archive, with its nodes."""

    name: str
    shown: str
    nodes: Nodes


def import_execution_traces(paths: Sequence[Path | str], settings: ExecutionTraceSettings | None = None) -> Imported:
    """The trace of one job out of PyTorch's execution traces or Chakra's, of one rank or of all.

    It has operations, sizes, groups and their order; times, skew and overlap are unknown. Raises ``InputRefusal``
    naming file, place, value and remedy for what cannot be read for certain.
    """
    settings = ExecutionTraceSettings() if settings is None else settings
    files = [Path(path) for path in paths]
    if not files:
        raise InputRefusal("", "no execution trace is given", "name one or more")
    read = [found for path in files for found in read_members(path, TRACES, _file)]
    flavours = sorted({file.nodes.flavour for file in read})
    if len(flavours) > 1:
        raise InputRefusal(
            "", f"files are of {' and '.join(flavours)}", "give traces of one format", file=read[-1].shown
        )
    if settings.ranks and len(settings.ranks) != len(read):
        raise UsageError(f"--rank is given {len(settings.ranks)} times for {len(read)} traces; give it once for each")
    numbers = _ranks(read, settings)
    ranks = []
    for file, number in zip(read, numbers, strict=True):
        try:
            ranks.append(_rank_calls(file, number, numbers, settings))
        except Refusal as refusal:
            raise refusal.in_file(file.shown) from refusal.__cause__
    try:
        return _imported(files, read, ranks, settings)
    except Refusal as refusal:
        raise refusal.in_file(read[0].shown if len(read) == 1 else f"{len(read)} files") from refusal.__cause__


def _file(member: Member) -> _File:
    return _File(member.name, member.shown, read_nodes(member.stream.read()))


def _ranks(read: Sequence[_File], settings: ExecutionTraceSettings) -> list[int | None]:
    """Ranks as far as the user or the files' names state them."""
    if settings.ranks:
        return list(settings.ranks)
    if read[0].nodes.flavour == "pytorch":
        return [None] * len(read)
    return [rank_in_name(file.name) for file in read]


def _rank_calls(
    file: _File, number: int | None, numbers: Sequence[int | None], settings: ExecutionTraceSettings
) -> RankCalls:
    nodes = file.nodes.nodes
    if file.nodes.flavour == "pytorch":
        job = torch_job(nodes, number, settings)
        calls = torch_calls(nodes, job, settings)
    else:
        if number is None:
            raise InputRefusal(
                "name", f"{file.name!r} does not state the rank", "call it NAME.RANK.et, or state it with --rank"
            )
        default = _default_group(numbers, settings)
        world = settings.world_size or (None if default is None else default.size)
        job = Job(number, world, None, (), None)
        calls = chakra_calls(nodes, job, default, settings)
    places = Places(calls="nodes", rank="rank", world="world_size", groups="process groups")
    return rank_calls_of(calls, job, file.name, places, settings.phase)


def _default_group(numbers: Sequence[int | None], settings: ExecutionTraceSettings) -> ProcessGroup | None:
    """All ranks: as many as declared, or - as ASTRA-sim has it - as there are files, where those are all of them."""
    if settings.world_size is not None:
        return ProcessGroup("default", settings.world_size) if settings.assume_default_group else None
    complete = sorted(number for number in numbers if number is not None) == list(range(len(numbers)))
    return ProcessGroup("default", len(numbers)) if complete and len(numbers) > 1 else None


def _imported(
    files: Sequence[Path], read: Sequence[_File], ranks: Sequence[RankCalls], settings: ExecutionTraceSettings
) -> Imported:
    check_same_job(ranks)
    fates = sum((calls.fates for calls in ranks), Counter[Fate]())
    if not any(len(calls) for calls in ranks):
        seen = but_seen(fates)
        raise InputRefusal(
            "nodes",
            "nothing to import: no communication node" + (f" that moves data{seen}" if seen else ""),
            "trace steps of a distributed job with ExecutionTraceObserver, or convert them with Chakra",
        )
    groups = matched(ranks)
    merged = merged_events(ranks, groups, Clock(False, (0,) * len(ranks)))
    return Imported.of(_header(files, read, ranks, merged, settings), merged, fates)


def _header(
    files: Sequence[Path],
    read: Sequence[_File],
    ranks: Sequence[RankCalls],
    merged: Merged,
    settings: ExecutionTraceSettings,
) -> TraceHeader:
    system: dict[str, Any] = {
        "backend": ranks[0].job.backend,
        "world_size": ranks[0].job.world,
        "profiled_ranks": [calls.job.rank for calls in ranks],
    }
    coverage = tuple(row for calls in ranks for row in calls.coverage)
    chakra = read[0].nodes.flavour == "chakra"
    unnamed = chakra or any(row.taken for row in coverage if row.rule == OPERATOR_RULE)
    notes: dict[str, Any] = {
        "order": "that in which each rank's calls began; calls of different groups are not ordered against each other",
        "schemas": {file.name: file.nodes.schema for file in read},
        "files_of_ranks": {str(calls.job.rank): calls.name for calls in ranks},
    }
    if chakra:
        notes["ranks"] = "stated by the user" if settings.ranks else "stated by the files' names"
        notes["groups"] = "nodes without a process group run on all ranks, as in ASTRA-sim"
    notes |= merged.differences
    return TraceHeader(
        workload={"name": settings.workload_name or "execution trace"},
        system={key: value for key, value in system.items() if value is not None},
        unknown=unknown_fields(merged.events, merged.start_ns, _reasons(chakra)),
        assumptions={"default_group": 1.0} if settings.assume_default_group and unnamed else {},
        coverage=coverage,
        notes=notes,
        source_files=source_files(files),
    )


def _reasons(chakra: bool) -> dict[str, str]:
    """Why events do not know a field."""
    return {
        "start_us": NO_TIMES,
        "gap_us": f"{NO_TIMES}; rows carry 0, and a replay that needs gaps refuses",
        "rank_arrival_us": NO_TIMES,
        "compute_before_us": NO_TIMES,
        "rank_compute_before_us": NO_TIMES,
        "compute_overlap_us": NO_TIMES,
        "observed_exposed_us": NO_TIMES,
        "phase": "execution traces do not name phases",
        "reduction_op": "execution traces do not state it",
        "root_rank": ("Chakra's nodes do not state it" if chakra else "the record does not tell root and caller apart"),
        "dtype": "Chakra's nodes give bytes, no element type",
        "in_elements": "not given, or different from rank to rank",
    }
