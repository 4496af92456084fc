"""The closed-loop program of a canary: columns that both kernels run, prepared once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.events import Ragged
from commcanary.errors import InputRefusal
from commcanary.replay import requirements
from commcanary.replay.configuration import check_ablations
from commcanary.replay.duration import REFERENCE_PRESSURE
from commcanary.replay.in_flight_layout import InFlightLayout, in_flight_layout
from commcanary.replay.noise_kinds import kind_noise_hashes
from commcanary.replay.ordering import replayed_order
from commcanary.replay.resources import resource_ids
from commcanary.units import us_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.artifacts.events import Events, ProcessGroup, Signature


@dataclass(frozen=True, slots=True)
class ClosedLoopProgram:
    """Columns of n events in replayed order; ``order[i]`` is the source index of replayed event i.

    Ranks are numbered 0 ... R - 1 in ascending order of ``ranks``, the global ones. ``members`` holds the ranks of
    each signature, end to end; ``before_ns`` the compute before each event, for each of its members, event after
    event. ``noise_hash`` is empty where noise is ablated; ``skew_us`` is the declared arrival skew. ``in_flight`` is
    what the general kernel needs, None where every event is consumed at once.
    """

    order: NDArray[np.int64]
    signatures: tuple[Signature, ...]
    groups: tuple[ProcessGroup, ...]
    ranks: NDArray[np.int64]
    signature: NDArray[np.int32]
    stream: NDArray[np.int32]
    streams: int
    member_bounds: NDArray[np.int64]
    members: NDArray[np.int32]
    before_ns: NDArray[np.int64]
    overlap_ns: NDArray[np.int64]
    consumer: NDArray[np.int64]
    skew_us: NDArray[np.float64]
    pressure: NDArray[np.float64]
    noise_hash: NDArray[np.uint64]
    tails: bool
    in_flight: InFlightLayout | None

    @classmethod
    def of(cls, events: Events, ablations: tuple[str, ...]) -> ClosedLoopProgram:
        """Raises UnknownValueRefusal for unknown compute before, overlap, pressure, or arrivals that are needed."""
        check_ablations(ablations)
        requirements.require_sound_groups(events)
        noisy = "noise" not in ablations
        tails = noisy and "rare_tail_windows" not in ablations
        skew, before = _arrivals(events, ablations, tails)
        if "compute_overlap" not in ablations:
            requirements.require_overlap(events)
        if "pressure" not in ablations:
            requirements.require_pressure(events)
        order = replayed_order(events, ablations)
        replayed = events.take(order)
        ranks, member_bounds, members = _members(events)
        count = len(events)
        signature, stream = replayed.signature.astype(np.int32), resource_ids(events)[order].astype(np.int32)
        streams = int(stream.max(initial=-1)) + 1
        before_ns, consumer = before.take(order).values, _consumers(events, replayed)
        in_flight = None
        if (consumer >= 0).any():
            in_flight = in_flight_layout(
                signature, stream, streams, len(ranks), member_bounds, members, before_ns, consumer
            )
        return cls(
            order=order,
            signatures=events.signatures,
            groups=events.groups,
            ranks=ranks,
            signature=signature,
            stream=stream,
            streams=streams,
            member_bounds=member_bounds,
            members=members,
            before_ns=before_ns,
            overlap_ns=np.zeros(count, np.int64) if "compute_overlap" in ablations else replayed.compute_overlap_ns,
            consumer=consumer,
            skew_us=us_array(skew[order]),
            pressure=np.full(count, REFERENCE_PRESSURE) if "pressure" in ablations else replayed.compute_pressure,
            noise_hash=kind_noise_hashes(events)[order] if noisy else np.zeros(0, np.uint64),
            tails=tails,
            in_flight=in_flight,
        )


def _arrivals(events: Events, ablations: tuple[str, ...], tails: bool) -> tuple[NDArray[np.int64], Ragged]:
    """Declared skew per event (0 where nothing needs it), and compute before per event and rank."""
    sizes = requirements.group_sizes(events)
    bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    given = events.rank_compute_before_ns
    requirements.require_rank_compute(events)
    requirements.require_compute_before(events)
    common = np.where(given.known, 0, events.compute_before_ns)
    values = np.repeat(common, sizes)
    skew = np.zeros(len(events), np.int64)
    if "arrival_skew" not in ablations:
        requirements.require_arrivals(events, needed=~given.known | tails)
        known = events.offsets_ns.known
        skew = np.where(known, events.offsets_ns.largest(), 0)
        offsets = np.zeros(len(values), np.int64)
        offsets[np.repeat(known, sizes)] = events.offsets_ns.values
        values += offsets * np.repeat(~given.known, sizes)
    values[np.repeat(given.known, sizes)] = given.values
    return skew, Ragged(values, bounds, np.ones(len(events), np.bool_))


def _consumers(events: Events, replayed: Events) -> NDArray[np.int64]:
    index = np.arange(len(events))
    wrong = np.flatnonzero((events.consumer >= 0) & ((events.consumer <= index) | (events.consumer >= len(events))))
    if len(wrong):
        first = int(wrong[0])
        raise InputRefusal(
            f"events[{first}].consumed_by",
            f"event {events.consumer[first]} is not a later event of this program",
            "name the later event that first needs the result, or leave the field out",
        )
    return replayed.consumer


def _members(events: Events) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """The global ranks that take part, and per signature its members as indices into them."""
    used = set(np.unique(events.signature).tolist())
    lists = [events.group_of(s).members if i in used else () for i, s in enumerate(events.signatures)]
    ranks = np.array(sorted({rank for members in lists for rank in members}), dtype=np.int64)
    bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(members) for members in lists], dtype=np.int64)])
    flat = np.array([rank for members in lists for rank in members], dtype=np.int64)
    return ranks, bounds, np.searchsorted(ranks, flat).astype(np.int32)
