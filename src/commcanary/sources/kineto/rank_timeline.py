"""One profile -> its timeline."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from commcanary.errors import InputRefusal
from commcanary.sources.calls.job import job_of
from commcanary.sources.kineto.call_reader import CallReader
from commcanary.sources.kineto.device import communication_lane
from commcanary.sources.kineto.host_lanes import communicating_marks
from commcanary.sources.kineto.lanes import Rows, device_rows, host_rows, kind_of_mark
from commcanary.sources.kineto.nesting import nested_records
from commcanary.sources.kineto.phases import phases_of_calls
from commcanary.sources.kineto.rank_calls import KinetoCalls, rank_calls
from commcanary.sources.kineto.sites import STEP_PREFIX, call_sites, operations_around
from commcanary.sources.kineto.spans import Numbered
from commcanary.timeline.kernels import UNKNOWN, Kernels, Lane
from commcanary.timeline.rank_timeline import Calls, DeviceTimeline, Ranges, RankTimeline

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.artifacts.events import ProcessGroup
    from commcanary.sources.calls.job import Job
    from commcanary.sources.kineto.rank_profile import RankProfile
    from commcanary.sources.kineto.settings import KinetoSettings
    from commcanary.timeline.communication_kernels import CommunicationKernels

    Ints = NDArray[np.int64]

UNKNOWN_KIND = "unknown"


@dataclass(frozen=True)
class RankRead:
    """A profile's timeline and, where they can be read, the calls behind it."""

    timeline: RankTimeline
    calls: KinetoCalls | None


def rank_timeline(
    profile: RankProfile, settings: KinetoSettings, table: CommunicationKernels, *, communicates: bool = True
) -> RankRead:
    """The timeline of ``profile``.

    The timeline is of kernels, so a call that cannot be read for certain is left out and counted, and a
    profile without a rank has no calls. ``communicates=False`` admits a host that only computes.
    Raises ``InputRefusal`` where nothing ran on a device or, for
    a job on CPUs, no transfer is marked.
    """
    job, no_calls = _job(profile)
    reader = None
    if job is None:
        lane = communication_lane(profile, table, nested_records(profile, skip=True).outer)
    else:
        reader = CallReader(profile, job, replace(settings, on_error="skip"), table)
        lane = reader.lane
    on_device = len(profile.kernels) > 0
    names: tuple[str, ...]
    if on_device:
        rows, rules = device_rows(profile, table, lane)
        names = tuple(profile.kernel_names.values)
    elif len(communicating_marks(profile)) or (len(profile.host) and not communicates):
        rows, rules, names = host_rows(profile)
    else:
        raise InputRefusal(
            "traceEvents",
            "shows nothing to measure: no kernel of a device, and no transfer of a CPU backend (gloo:..., mpi:...)",
            "profile with CUDA activities, or a gloo or MPI job with CPU activities",
        )
    calls = None if reader is None else rank_calls(reader)
    steps = _ranges(profile, steps=True)
    behind = _calls_behind(rows, calls, on_device)
    kind, kinds = _kinds(profile, rows, names, behind, calls, lane.operation if on_device else None)
    thread, time = _issued(rows, behind, calls)
    communicating = rows.lane == Lane.COMMUNICATION
    site, phase, sites, phases = _places(profile, thread, time, communicating, calls, settings)
    count = len(rows.start)
    groups = () if calls is None else tuple(dict.fromkeys(group for group, _ in calls.keys))
    group_of_key = [] if calls is None else [groups.index(group) for group, _ in calls.keys]
    columns = {name: getattr(rows, name) for name in ("start", "end", "lane", "name", "stream", "rule")}
    kernels = Kernels(
        **columns,
        kind=kind,
        group=_of_call(behind, None if calls is None else np.asarray(group_of_key, np.int64)[calls.key]),
        site=site[:count],
        phase=phase[:count],
        call=behind,
        launch=rows.launch,
        step=_step_of(steps, time),
    )
    timeline = RankTimeline(
        name=profile.name,
        rank=None if job is None else job.rank,
        world=None if job is None else job.world,
        lanes="device" if on_device else "host",
        base_ns=None if job is None else job.base_ns,
        session_start=min(_edges(profile, "start")),
        session_end=max(_edges(profile, "end")),
        devices=tuple(_devices(profile, kernels, rows.device, on_device)),
        steps=steps,
        ranges=_ranges(profile, steps=False),
        calls=None if calls is None else _calls(calls, groups, group_of_key, site[count:], phase[count:], steps),
        no_calls=no_calls,
        refused_calls=0 if calls is None else sum(row.refused for row in calls.coverage),
        names=names,
        rules=tuple(rules.values),
        kinds=kinds,
        groups=tuple(group.name for group in groups),
        sites=sites,
        phases=phases,
    )
    return RankRead(timeline, calls)


def _job(profile: RankProfile) -> tuple[Job | None, str]:
    """The job; where the profile does not name its rank, the reason why calls stay unread."""
    try:
        return job_of(profile.head.distributedInfo, profile.head.baseTimeNanoseconds), ""
    except InputRefusal as refusal:
        return None, f"{refusal.place} {refusal.found}"


def _calls_behind(rows: Rows, calls: KinetoCalls | None, on_device: bool) -> Ints:
    """int64[n]: index of the call behind each row, -1 for none."""
    behind = np.full(len(rows.start), UNKNOWN, np.int64)
    if calls is None or not len(calls):
        return behind
    source = calls.record if on_device else calls.mark
    call_of = np.full(int(max(source.max(), rows.record.max())) + 2, UNKNOWN, np.int64)  # the last: no source
    known = np.flatnonzero(source != UNKNOWN)
    call_of[source[known]] = known
    behind = call_of[rows.record]
    behind[rows.lane != Lane.COMMUNICATION] = UNKNOWN
    return behind


def _kinds(
    profile: RankProfile,
    rows: Rows,
    names: tuple[str, ...],
    behind: Ints,
    calls: KinetoCalls | None,
    operation: tuple[str | None, ...] | None,
) -> tuple[Ints, tuple[str, ...]]:
    """Operation of each communication row: its call's, else that of its name or of the operator that launched it.

    ``operation`` is what the names of the device's communication kernels state, None on the host.
    """
    table = Numbered()
    communicating = np.flatnonzero(rows.lane == Lane.COMMUNICATION)
    kind = np.full(len(rows.start), UNKNOWN, np.int64)
    if operation is None:
        stated: list[str | None] = [kind_of_mark(names[n]) for n in rows.name[communicating].tolist()]
    else:  # both are in order of start, ties in order of the file
        around = operations_around(profile, rows.thread[communicating], rows.launch[communicating])
        stated = [said or operator for said, operator in zip(operation, around, strict=True)]
    for row, said, call in zip(communicating.tolist(), stated, behind[communicating].tolist(), strict=True):
        known = None if calls is None or call == UNKNOWN else calls.keys[int(calls.key[call])][1].op
        kind[row] = table.number(known or said or UNKNOWN_KIND)
    return kind, tuple(table.values)


def _issued(rows: Rows, behind: Ints, calls: KinetoCalls | None) -> tuple[Ints, Ints]:
    """Thread and time at which the host launched each row; a row without a launch has those of its call."""
    thread, time = rows.thread.copy(), rows.launch.copy()
    if calls is not None:
        missing = np.flatnonzero((thread == UNKNOWN) & (behind != UNKNOWN))
        thread[missing], time[missing] = calls.thread[behind[missing]], calls.issue[behind[missing]]
    return thread, time


def _places(
    profile: RankProfile,
    thread: Ints,
    time: Ints,
    sited: NDArray[np.bool_],
    calls: KinetoCalls | None,
    settings: KinetoSettings,
) -> tuple[Ints, Ints, tuple[str, ...], tuple[str, ...]]:
    """Site and phase of each row, then of each call, -1 unknown; and the sites and phases."""
    if calls is not None:
        thread, time = np.concatenate([thread, calls.thread]), np.concatenate([time, calls.issue])
        sited = np.concatenate([sited, np.ones(len(calls), np.bool_)])
    known = np.flatnonzero(thread != UNKNOWN)
    site, phase = (np.full(len(thread), UNKNOWN, np.int64) for _ in range(2))
    wanted = known[sited[known]]
    site[wanted], sites = call_sites(profile, thread[wanted], time[wanted])
    if settings.phase is not None:
        return site, np.zeros(len(thread), np.int64), sites, (settings.phase,)
    found, phases = phases_of_calls(profile, time[known], time[known], thread[known], settings.phase_annotations)
    phase[known] = np.where(found == len(phases) - 1, UNKNOWN, found)  # the last one is the unknown phase
    return site, phase, sites, phases[:-1]


def _of_call(behind: Ints, value: Ints | None) -> Ints:
    return np.full(len(behind), UNKNOWN, np.int64) if value is None else np.append(value, UNKNOWN)[behind]


def _calls(
    calls: KinetoCalls,
    groups: tuple[ProcessGroup, ...],
    group_of_key: list[int],
    site: Ints,
    phase: Ints,
    steps: Ranges,
) -> Calls:
    return Calls(
        groups=groups,
        signatures=tuple(
            msgspec.structs.replace(signature, group=group)
            for (_, signature), group in zip(calls.keys, group_of_key, strict=True)
        ),
        signature=calls.key,
        issue=calls.issue,
        site=site,
        phase=phase,
        step=_step_of(steps, calls.issue),
        event=calls.event,
    )


def _devices(profile: RankProfile, kernels: Kernels, device: Ints, on_device: bool) -> list[DeviceTimeline]:
    if not on_device:
        return [DeviceTimeline("host", kernels)]
    labels = {number: str(profile.threads.values[number][1]) for number in np.unique(device).tolist()}
    ordered = sorted(labels, key=lambda number: (len(labels[number]), labels[number]))
    return [DeviceTimeline(labels[number], kernels.where(device == number)) for number in ordered]


def _ranges(profile: RankProfile, steps: bool) -> Ranges:
    """The profiler's steps, or all other annotations."""
    blocks = profile.blocks
    code, start, end = (blocks.column(name) for name in ("code", "start", "end"))
    is_step = [name.startswith(STEP_PREFIX) for name in profile.block_names.values]
    chosen = np.asarray([i for i in np.argsort(start, kind="stable") if is_step[code[i]] == steps], np.int64)
    return Ranges(tuple(profile.block_names.values[code[i]] for i in chosen), start[chosen], end[chosen])


def _step_of(steps: Ranges, time: Ints) -> Ints:
    """int64[n]: index of the step that holds each time, -1 for none."""
    if not len(steps):
        return np.full(len(time), UNKNOWN, np.int64)
    at = np.searchsorted(steps.start, time, side="right") - 1
    inside = (at >= 0) & (time < steps.end[np.maximum(at, 0)]) & (time != UNKNOWN)
    return np.where(inside, at, UNKNOWN)


def _edges(profile: RankProfile, which: str) -> list[int]:
    everything = (
        profile.host,
        profile.records,
        profile.operators,
        profile.annotations,
        profile.blocks,
        profile.kernels,
        profile.memory,
        profile.launches,
    )
    best = min if which == "start" else max
    return [int(best(spans.column(which))) for spans in everything if len(spans)]
