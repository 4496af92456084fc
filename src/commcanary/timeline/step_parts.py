"""One step of one rank in exclusive parts: what ran alone, what ran beside, what was left over."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from commcanary.timeline.covered import Covered
from commcanary.timeline.kernels import UNKNOWN, Lane

if TYPE_CHECKING:
    from commcanary.timeline.kernels import Kernels
    from commcanary.timeline.rank_timeline import RankTimeline

WHOLE_PROFILE = "whole profile"


@dataclass(frozen=True)
class StepParts:
    """Lengths in ns. The span, from the first start to the last end of the step's kernels, is exactly
    ``compute_only + communication_only + both + idle``.

    ``tail`` is how long the last communication ends after the last compute, 0 where it does not. ``host`` is the
    length of the profiler's step on the host, None without profiler steps. ``collectives`` are the communication
    kernels as (operation, bytes or -1, ns), ``kernels`` the compute kernels as (name, ns).
    """

    name: str
    compute_only: int
    communication_only: int
    both: int
    idle: int
    tail: int
    host: int | None
    kernels: tuple[tuple[str, int], ...]
    collectives: tuple[tuple[str, int, int], ...]

    @property
    def compute(self) -> int:
        """All compute, beside communication or not."""
        return self.compute_only + self.both

    @property
    def communication(self) -> int:
        """All communication, beside compute or not."""
        return self.communication_only + self.both

    @property
    def span(self) -> int:
        """The step's length."""
        return self.compute_only + self.communication_only + self.both + self.idle


def steps_of(timeline: RankTimeline, ignored: frozenset[str] = frozenset()) -> tuple[StepParts, ...]:
    """The parts of every profiler step, over all devices of the rank; the whole profile where it has no steps.

    A kernel belongs to the step that launched it, else to the step that it starts in. Kernels of neither lane
    (copies), kernels with a name in ``ignored`` and, where there are steps, kernels outside of them do not count.
    """
    names = np.asarray([name in ignored for name in timeline.names], np.bool_)
    per_step: dict[int, list[Kernels]] = {}
    for device in timeline.devices:
        kernels = device.kernels.where((device.kernels.lane != Lane.MEMORY) & ~names[device.kernels.name])
        step = _steps(timeline, kernels)
        for number in np.unique(step):
            if number != UNKNOWN:
                per_step.setdefault(int(number), []).append(kernels.where(step == number))
    return tuple(_parts(timeline, number, per_step[number]) for number in sorted(per_step))


def _steps(timeline: RankTimeline, kernels: Kernels) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    ranges = timeline.steps
    if not len(ranges):
        return np.zeros(len(kernels), np.int64)
    at = np.searchsorted(ranges.start, kernels.start, side="right") - 1
    inside = (at >= 0) & (kernels.start < ranges.end[np.maximum(at, 0)])
    return np.where(kernels.step != UNKNOWN, kernels.step, np.where(inside, at, UNKNOWN))


def _parts(timeline: RankTimeline, number: int, devices: list[Kernels]) -> StepParts:
    start, end, lane, name, kind, call = (
        np.concatenate([getattr(kernels, column) for kernels in devices])
        for column in ("start", "end", "lane", "name", "kind", "call")
    )
    computing, communicating = lane == Lane.COMPUTE, lane == Lane.COMMUNICATION
    compute = Covered(start[computing], end[computing])
    communication = Covered(start[communicating], end[communicating])
    both = compute.both(communication)
    span = int(end.max() - start.min())
    ends = [int(union.end[-1]) if len(union) else int(start.min()) for union in (communication, compute)]
    length = (end - start).tolist()
    stepped = len(timeline.steps) > 0
    return StepParts(
        name=timeline.steps.name[number] if stepped else WHOLE_PROFILE,
        compute_only=compute.total - both,
        communication_only=communication.total - both,
        both=both,
        idle=span - compute.total - communication.total + both,
        tail=max(0, ends[0] - ends[1]) if len(communication) else 0,
        host=int(timeline.steps.end[number] - timeline.steps.start[number]) if stepped else None,
        kernels=tuple((timeline.names[name[i]], length[i]) for i in np.flatnonzero(computing).tolist()),
        collectives=tuple(
            (timeline.kinds[kind[i]], _bytes(timeline, int(call[i])), length[i])
            for i in np.flatnonzero(communicating).tolist()
        ),
    )


def _bytes(timeline: RankTimeline, call: int) -> int:
    calls = timeline.calls
    return UNKNOWN if calls is None or call == UNKNOWN else calls.signatures[int(calls.signature[call])].bytes


def counted_calls(timeline: RankTimeline) -> Counter[tuple[str, int, str | None, int]] | None:
    """How often each (operation, bytes, dtype, ranks) is called, None where calls cannot be read."""
    calls = timeline.calls
    if calls is None or not len(calls):
        return None
    keys = [(s.op, s.bytes, s.dtype, calls.groups[s.group].size) for s in calls.signatures]
    return Counter(keys[number] for number in calls.signature.tolist())
