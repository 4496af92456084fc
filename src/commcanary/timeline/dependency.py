"""Dependency windows and idle time of one device as rows of the overlap document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from commcanary.timeline.dependency_windows import Evidence, dependency_windows
from commcanary.timeline.idle_classes import IdleInput, idle_classes
from commcanary.timeline.kernels import UNKNOWN
from commcanary.units import r3

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.timeline.kernels import Kernels
    from commcanary.timeline.rank_timeline import RankTimeline

    Ints = NDArray[np.int64]

SHOWN = 20
"""Windows that are listed, largest exposure first."""

SAID = {
    Evidence.NO_LAUNCH: "unknown: its launch is not recorded",
    Evidence.NO_CONSUMER: "unknown: no compute is launched behind it",
    Evidence.NOT_WAITED_FOR: "not waited for: the next compute could not have started before it completed",
    Evidence.WAITED_FOR: "waited for: queued compute started as it completed",
    Evidence.HELD_OTHERWISE: "unknown: the next compute started long after it completed",
}

SLOWDOWN_UNKNOWN = "one run does not show how long its compute takes alone: overlap-study does"


class EvidenceSum(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Collectives with the same evidence; ``direct_exposure_ns`` is null where it is unknown."""

    evidence: str
    collectives: int
    direct_exposure_ns: int | None


class DependencyWindow(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One collective, times in ns of session time: readiness r, start, completion c, and of its consumer.

    ``consumer_ns`` is u, when the consumer could have started without it, ``consumer_start_ns`` when it did.
    """

    kind: str
    site: str | None
    bytes: int | None
    ready_ns: int | None
    start_ns: int
    completion_ns: int
    consumer: str | None
    consumer_ns: int | None
    consumer_start_ns: int | None
    direct_exposure_ns: int | None
    evidence: str


class IdleShare(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Time without compute of one class: stretches, their sum and the longest, and the share of all of it."""

    name: str
    stretches: int
    ns: int
    longest_ns: int
    share_pct: float


class Dependency(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``direct_exposure_ns`` sums what is known, each consumer's wait once; ``slowdown_ns`` is never part of it.

    ``idle`` sums to ``without_compute_ns``, communication only and neither; empty where ``unknown`` says why.
    """

    direct_exposure_ns: int
    evidence: tuple[EvidenceSum, ...]
    slowdown_ns: int | None
    slowdown_unknown: str | None
    windows: tuple[DependencyWindow, ...]
    without_compute_ns: int
    idle: tuple[IdleShare, ...]
    unknown: dict[str, str]


def dependency_of(
    timeline: RankTimeline, kernels: Kernels, start: int, end: int, last_arrival: Ints | None = None
) -> Dependency | None:
    """The windows and idle classes of a device's ``kernels`` in the window [start, end); None on a host.

    ``last_arrival`` (int64 per call of the rank, -1 unknown) is when the last rank reached each call, on this
    profile's clock; None where ranks cannot be compared.
    """
    if timeline.lanes != "device" or end <= start:
        return None
    windows = dependency_windows(kernels)
    call = kernels.call[windows.kernel]
    arrival = np.full(len(windows), UNKNOWN, np.int64)
    if last_arrival is not None:
        arrival[call != UNKNOWN] = last_arrival[call[call != UNKNOWN]]
    found = idle_classes(IdleInput(kernels, windows, timeline.kinds, start, end, timeline.steps.start, arrival))
    whole = sum(union.total for union in found.values())
    order = np.lexsort((windows.start, -windows.exposure)).tolist()
    unknown = {} if last_arrival is not None else {"imbalance": "arrivals of the ranks are not known on one clock"}
    rows = []
    for i in order[:SHOWN]:
        consumer = int(windows.consumer[i])
        kernel = int(windows.kernel[i])
        kind, site = int(kernels.kind[kernel]), int(kernels.site[kernel])
        rows.append(
            DependencyWindow(
                kind=timeline.kinds[kind],
                site=None if site == UNKNOWN else timeline.sites[site],
                bytes=_bytes(timeline, int(call[i])),
                ready_ns=_time(timeline, windows.ready[i]),
                start_ns=int(windows.start[i]) - timeline.session_start,
                completion_ns=int(windows.completion[i]) - timeline.session_start,
                consumer=None if consumer == UNKNOWN else timeline.names[kernels.name[consumer]],
                consumer_ns=_time(timeline, windows.consumer_time[i]),
                consumer_start_ns=None if consumer == UNKNOWN else _time(timeline, kernels.start[consumer]),
                direct_exposure_ns=None if windows.exposure[i] == UNKNOWN else int(windows.exposure[i]),
                evidence=SAID[Evidence(int(windows.evidence[i]))],
            )
        )
    return Dependency(
        direct_exposure_ns=int(windows.exposure[windows.exposure != UNKNOWN].sum()),
        evidence=tuple(
            _sum(windows.exposure[windows.evidence == e], e) for e in Evidence if (windows.evidence == e).any()
        ),
        slowdown_ns=None,
        slowdown_unknown=SLOWDOWN_UNKNOWN,
        windows=tuple(rows),
        without_compute_ns=whole,
        idle=tuple(
            IdleShare(
                name=name,
                stretches=len(union),
                ns=union.total,
                longest_ns=int(union.lengths.max()) if len(union) else 0,
                share_pct=r3(100 * union.total / whole) if whole else 0.0,
            )
            for name, union in found.items()
        ),
        unknown=unknown,
    )


def _sum(exposure: Ints, evidence: Evidence) -> EvidenceSum:
    known = bool((exposure != UNKNOWN).all())
    return EvidenceSum(
        evidence=SAID[evidence],
        collectives=len(exposure),
        direct_exposure_ns=int(exposure.sum()) if known else None,
    )


def _time(timeline: RankTimeline, time: np.int64) -> int | None:
    return None if time == UNKNOWN else int(time) - timeline.session_start


def _bytes(timeline: RankTimeline, call: int) -> int | None:
    calls = timeline.calls
    return None if calls is None or call == UNKNOWN else calls.signatures[int(calls.signature[call])].bytes
