"""The calls of several profiles -> collectives with every rank's arrival on one clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from commcanary.artifacts.events import UNKNOWN
from commcanary.errors import InputRefusal
from commcanary.sources.calls.clocks import SYNCHRONISING, Clock, ClockChoice, check_plausible, clock_of
from commcanary.sources.calls.matching import Matched, matched
from commcanary.sources.kineto.spans import Numbered
from commcanary.timeline.late_ranks import Meeting, Meetings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commcanary.sources.calls.rank_calls import RankCalls
    from commcanary.timeline.rank_timeline import RankTimeline

NO_SITE = "unknown"


class Read(Protocol):
    """A timeline and the calls behind it, None where they cannot be read."""

    @property
    def timeline(self) -> RankTimeline:
        """What one rank shows."""

    @property
    def calls(self) -> RankCalls | None:
        """Its calls, as many as the timeline has."""


def meetings_of(reads: Sequence[Read], choice: ClockChoice) -> Meetings:
    """Every collective of every group, or the reason why arrivals cannot be compared.

    Messages between two ranks are left out: neither end waits for a last one. Raises ``InputRefusal``
    where the clocks that the user declared contradict what a collective is.
    """
    calls = [read.calls for read in reads if read.calls is not None]
    unknown = _why_not(reads, calls, choice)
    if unknown:
        return Meetings(unknown=unknown)
    try:
        groups = matched(calls)
    except InputRefusal as refusal:
        return Meetings(unknown=f"calls do not match across ranks: {refusal}")
    clock = clock_of(calls, groups, choice)
    on_device = all(one.on_device for one in calls if len(one))
    found = [
        meeting
        for group in groups
        if len(group.present) > 1 and len(group)
        for meeting in (_meeting(reads, calls, group, clock, on_device),)
        if meeting.arrival.shape[1]
    ]
    bound = clock.said.get("error_bound_us")
    return Meetings(
        meetings=tuple(found),
        clock=str(clock.said["method"]),
        error_bound_us=None if bound is None else float(bound),
        arrival="first start of the call's kernels" if on_device else "start of the call on the host",
    )


def _why_not(reads: Sequence[Read], calls: Sequence[RankCalls], choice: ClockChoice) -> str:
    if len(reads) < 2:
        return "one profile was given"
    if len(calls) < len(reads):
        return "a profile does not name its rank"
    if not (choice.shared or choice.offsets_us or choice.estimate):
        return "ranks' clocks are not known to agree: --assume-shared-clock, --clock-offset-us or --estimate-clock"
    if not any(len(one) for one in calls):
        return "no communication call could be read"
    return ""


def _meeting(
    reads: Sequence[Read], calls: Sequence[RankCalls], group: Matched, clock: Clock, on_device: bool
) -> Meeting:
    members = [(calls[position], chosen) for position, chosen in zip(group.present, group.calls, strict=True)]
    shift = np.asarray([clock.add_ns[position] for position in group.present], np.int64)[:, None]
    arrival = np.stack([(one.kernel_start if on_device else one.issue)[chosen] for one, chosen in members]) + shift
    end = np.stack([one.end[chosen] for one, chosen in members])
    kinds, sites = Numbered(), Numbered()
    first, chosen = members[0]
    ops = [signature.op for _, signature in first.keys]
    kind = np.asarray([kinds.number(op) for op in ops], np.int64)[first.key[chosen]]
    waits = np.asarray([op in SYNCHRONISING for op in ops], np.bool_)[first.key[chosen]]
    check_plausible(calls, group, arrival, np.where(end == UNKNOWN, UNKNOWN, end + shift), waits)
    timeline = reads[group.present[0]].timeline
    assert timeline.calls is not None  # it has as many as ``first``
    site = np.asarray(
        [sites.number(NO_SITE if s == UNKNOWN else timeline.sites[s]) for s in timeline.calls.site[chosen].tolist()],
        np.int64,
    )
    collective = np.asarray([op != "point_to_point" for op in ops], np.bool_)[first.key[chosen]]
    return Meeting(
        group=group.group.name,
        ranks=tuple(one.job.rank for one, _ in members),
        arrival=arrival[:, collective],
        kind=kind[collective],
        kinds=tuple(kinds.values),
        site=site[collective],
        sites=tuple(sites.values),
        call=np.stack([chosen[collective] for _, chosen in members]),
        shift=shift[:, 0],
    )
