"""One measured step as the segment of a what-if: its buckets with ready and needed times on the compute's own clock.

The compute's clock stands still while compute waits for a collective: from when the consumer could have gone on
(u of its dependency window) until it did. So the segment's compute is the step without its waits, and a bucket's
ready and needed times are r and u of its window on that clock. Gaps of the host stay in the compute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.errors import InputRefusal, UnknownValueRefusal
from commcanary.timeline.covered import Covered
from commcanary.timeline.dependency_windows import Evidence, dependency_windows
from commcanary.timeline.kernels import UNKNOWN, Kernels, Lane
from commcanary.timeline.segment import Bucket, Measured, Segment
from commcanary.units import us_from_ns

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from commcanary.timeline.dependency_windows import Windows
    from commcanary.timeline.rank_timeline import RankTimeline

    Ints = NDArray[np.int64]

NEEDED = "a collective that nobody waited for is needed where compute next waited for one, or at the segment's end"


def measured_segment(
    timeline: RankTimeline, step: str | None = None, operation: str | None = None, *, even_ready: bool = False
) -> Segment:
    """The segment of profiler step ``step`` (the one of median length where None) on the profile's first device.

    Buckets are the collectives of ``operation`` (None: the one that moves most bytes); what else communicates
    stays in the compute. ``even_ready`` assumes that parts of a bucket become ready evenly since the bucket
    before it was (the first one stays whole).

    Raises ``UnknownValueRefusal`` for a job on a host and for collectives of unknown size, ``InputRefusal`` for
    a step or operation that is not there.
    """
    if timeline.lanes != "device":
        raise UnknownValueRefusal(
            "traceEvents",
            "are those of a host, where no event shows what waits for a transfer",
            "profile a job on devices, or write the segment by hand",
        )
    whole = timeline.devices[0].kernels
    if timeline.calls is None:
        raise UnknownValueRefusal("calls", f"cannot be read: {timeline.no_calls}", "profile with record_param_comms")
    kernels = whole.where(_in_step(timeline, whole, step))
    operation, mine = _operation(timeline, kernels, operation)
    windows = dependency_windows(kernels)
    chosen = np.isin(windows.kernel, mine)
    waited = windows.evidence == Evidence.WAITED_FOR
    own = chosen & waited
    waits = Covered(windows.consumer_time[own], kernels.start[windows.consumer[own]])
    start, end = int(kernels.start.min()), int(kernels.end.max())
    compute_end = int(kernels.end[~np.isin(np.arange(len(kernels)), mine)].max(initial=start))

    def clock(time: Ints) -> Ints:
        return time - start - waits.within(np.full(len(time), start, np.int64), time)

    compute = int(clock(np.asarray([compute_end], np.int64))[0])
    ready = np.minimum(clock(np.where(windows.ready == UNKNOWN, windows.start, windows.ready)), compute)
    needed = np.clip(_needed(clock, kernels, windows, own, compute), ready, compute)
    buckets: list[Bucket] = []
    for number, i in enumerate(np.flatnonzero(chosen).tolist(), start=1):
        at = us_from_ns(ready[i])
        buckets.append(
            Bucket(
                name=f"{operation} {number}",
                bytes=_bytes(timeline, int(kernels.call[windows.kernel[i]])),
                ready_us=at,
                needed_us=us_from_ns(needed[i]),
                ready_from_us=min(buckets[-1].ready_us, at) if even_ready and buckets else None,
            )
        )
    return Segment(
        name=f"{timeline.name} {step or 'median step'}",
        compute_us=us_from_ns(compute),
        buckets=tuple(buckets),
        collectives=_measured(timeline, whole, operation),
        measured_us=us_from_ns(end - start),
        assumptions=(NEEDED,),
    )


def _in_step(timeline: RankTimeline, kernels: Kernels, step: str | None) -> Ints:
    steps = timeline.steps
    if not len(steps):
        if step is not None:
            raise InputRefusal("--step", f"{step!r} is not there", "the profile has no profiler steps: leave it out")
        return np.arange(len(kernels))
    if step is None:
        number = int(np.argsort(steps.end - steps.start, kind="stable")[(len(steps) - 1) // 2])
    elif step in steps.name:
        number = steps.name.index(step)
    else:
        raise InputRefusal("--step", f"{step!r} is not there", f"there are {', '.join(steps.name[:8])}")
    found = np.flatnonzero((kernels.step == number) & (kernels.lane != Lane.MEMORY))
    if not len(found):
        raise InputRefusal("--step", f"{steps.name[number]} launched no kernel", "choose another step")
    return found


def _operation(timeline: RankTimeline, kernels: Kernels, operation: str | None) -> tuple[str, Ints]:
    """The operation and its kernels' indices."""
    communicating = np.flatnonzero((kernels.lane == Lane.COMMUNICATION) & (kernels.call != UNKNOWN))
    kinds = [timeline.kinds[kind] for kind in kernels.kind[communicating].tolist()]
    moved: dict[str, int] = {}
    for kind, call in zip(kinds, kernels.call[communicating].tolist(), strict=True):
        moved[kind] = moved.get(kind, 0) + _bytes(timeline, call)
    if not moved:
        raise UnknownValueRefusal(
            "traceEvents",
            "no collective of the step has a known size",
            "profile with a PyTorch that names its collectives (2.3 or later)",
        )
    if operation is not None and operation not in moved:
        known = ", ".join(sorted(moved))
        raise InputRefusal("--operation", f"{operation} is not in the step", f"there are: {known}")
    name = operation or max(moved, key=lambda kind: moved[kind])
    return name, communicating[np.asarray([kind == name for kind in kinds], np.bool_)]


def _needed(
    clock: Callable[[Ints], Ints], kernels: Kernels, windows: Windows, waited: NDArray[np.bool_], compute: int
) -> Ints:
    """int64[n]: u of collectives that were waited for; of others the next such u behind their own, or the end.

    The u of a collective that nobody waited for is only the earliest time at which it can have been needed.
    """
    own = np.where(windows.consumer == UNKNOWN, compute, clock(windows.consumer_time))
    points = np.sort(own[waited])
    at = np.searchsorted(points, own, side="left")
    later = np.where(at < len(points), points[np.minimum(at, max(0, len(points) - 1))] if len(points) else 0, compute)
    return np.where(waited, own, later)


def _bytes(timeline: RankTimeline, call: int) -> int:
    calls = timeline.calls
    assert calls is not None
    return calls.signatures[int(calls.signature[call])].bytes


def _measured(timeline: RankTimeline, kernels: Kernels, operation: str) -> tuple[Measured, ...]:
    """Size and time of every kernel of the operation in the whole profile."""
    mine = np.flatnonzero((kernels.lane == Lane.COMMUNICATION) & (kernels.call != UNKNOWN))
    mine = mine[np.asarray([timeline.kinds[kind] == operation for kind in kernels.kind[mine].tolist()], np.bool_)]
    return tuple(
        Measured(bytes=_bytes(timeline, call), us=us_from_ns(length))
        for call, length in zip(kernels.call[mine].tolist(), kernels.durations[mine].tolist(), strict=True)
        if length > 0
    )
