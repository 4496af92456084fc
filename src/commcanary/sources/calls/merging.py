"""Matched calls of all profiled ranks -> the columns of a trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from commcanary.artifacts.events import UNKNOWN, Events, Ragged, Signature
from commcanary.sources.calls.clocks import SYNCHRONISING, Clock, check_plausible
from commcanary.sources.calls.program_order import numbered, untimed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from commcanary.sources.calls.matching import Matched
    from commcanary.sources.calls.rank_calls import RankCalls

    Ints = NDArray[np.int64]

DEFAULT_PRESSURE = 0.5
"""What the exchange format says where nobody measured compute pressure."""


@dataclass(frozen=True)
class Merged:
    """Events in order of start, their starts from the first one on, and what ranks disagreed about.

    ``sites`` are the places in the program that made the calls, as the first member of each group has them. Event i
    stands at ``position[i]`` where the events of all groups are listed one group after the other.
    """

    events: Events
    start_ns: Ints
    on_device: bool
    phase_differs: int
    uneven: int
    reordered: int
    sites: tuple[str | None, ...]
    position: Ints

    @property
    def differences(self) -> dict[str, str]:
        """What ranks disagreed about and what stands in the trace instead, for its notes; empty where they did not."""
        told = {
            "phase_differs": (self.phase_differs, "on {} events; the first member's phase is kept"),
            "order_differs": (self.reordered, "{} events were called in another order by some rank"),
            "uneven": (self.uneven, "{} events have sizes that differ by rank; bytes are the largest rank's"),
        }
        return {name: words.format(count) for name, (count, words) in told.items() if count}


def merged_events(ranks: Sequence[RankCalls], groups: Sequence[Matched], clock: Clock) -> Merged:
    """Columns of all events.

    A call arrives where its first communication kernel starts, if every call of every rank has one, else
    where it is issued. An event starts at its first arrival; where ranks' times may not be compared, at the
    arrival on the first listed rank that takes part. Overlap and exposed time are those of the rank that
    was exposed longest; ``compute_before_ns`` is the smallest of the ranks'. Without times events keep the
    order of the ranks' calls; starts are unknown, and gaps are the format's 0, for it has no unknown ones.
    """
    without_times = untimed(ranks)
    reordered = 0
    if without_times:
        ranks, reordered = numbered(ranks, groups)
    on_device = all(calls.on_device for calls in ranks if len(calls))
    parts = [_part(ranks, group, clock, on_device) for group in groups]
    start = np.concatenate([part.start for part in parts])
    order = np.argsort(start, kind="stable")
    start = start[order] - start[order[0]]

    def column(name: str) -> Ints:
        return np.concatenate([getattr(part, name) for part in parts])[order]

    signatures: dict[Signature, int] = {}
    numbers = [
        signatures.setdefault(msgspec.structs.replace(s, group=g), len(signatures))
        for g, part in enumerate(parts)
        for s in part.signatures
    ]
    begins = np.cumsum([0, *[len(part.signatures) for part in parts]])[:-1]
    local = np.concatenate([part.signature + begin for part, begin in zip(parts, begins, strict=True)])
    exposed = column("exposed")
    if (exposed == UNKNOWN).any():
        exposed[:] = UNKNOWN
    events = Events(
        groups=tuple(group.group for group in groups),
        signatures=tuple(signatures),
        signature=np.asarray(numbers, np.int32)[local[order]],
        gap_ns=np.diff(start, prepend=0),
        offsets_ns=Ragged.joined([part.offsets for part in parts]).take(order),
        compute_before_ns=column("before"),
        rank_compute_before_ns=Ragged.joined([part.rank_before for part in parts]).take(order),
        compute_overlap_ns=column("overlap"),
        compute_pressure=np.full(len(start), DEFAULT_PRESSURE),
        observed_exposed_ns=exposed,
        message_sequence=np.full(len(start), UNKNOWN, np.int64),
        consumer=np.full(len(start), UNKNOWN, np.int64),
        compute_uncertain=np.full(len(start), not on_device),
    )
    if without_times:
        start = np.full(len(start), UNKNOWN, np.int64)
        events.gap_ns[:] = 0
    return Merged(
        events,
        start,
        on_device,
        sum(p.phase_differs for p in parts),
        sum(p.uneven for p in parts),
        reordered,
        tuple(np.concatenate([part.sites for part in parts])[order].tolist()),
        order,
    )


@dataclass(frozen=True)
class _Part:
    """The events of one group; ``signature`` numbers ``signatures``."""

    start: Ints
    signatures: list[Signature]
    signature: Ints
    offsets: Ragged
    before: Ints
    rank_before: Ragged
    overlap: Ints
    exposed: Ints
    phase_differs: int
    uneven: int
    sites: NDArray[np.object_]


def _part(ranks: Sequence[RankCalls], group: Matched, clock: Clock, on_device: bool) -> _Part:
    members = [(ranks[position], calls) for position, calls in zip(group.present, group.calls, strict=True)]
    shifts = [clock.add_ns[position] for position in group.present]

    def rows(name: str) -> Ints:
        return np.stack([getattr(calls, name)[chosen] for calls, chosen in members])

    shift = np.asarray(shifts, np.int64)[:, None]
    arrival = rows("kernel_start" if on_device else "issue") + shift
    signatures, signature, uneven = _signatures(group, members)
    if clock.known and group.complete and len(members) > 1:
        end = rows("end")
        end = np.where(end == UNKNOWN, UNKNOWN, end + shift)
        waits = np.asarray([s.op in SYNCHRONISING for s in signatures], np.bool_)[signature]
        check_plausible(ranks, group, arrival, end, waits)
    comparable = group.complete and (clock.known or len(members) == 1)
    first = arrival.min(axis=0)
    if not clock.known:
        first = arrival[int(np.argmin(group.present))]
    before, overlap, exposed = rows("compute_before"), rows("overlap"), rows("exposed")
    longest = exposed.argmax(axis=0)
    at = np.arange(len(group))
    all_known = (before != UNKNOWN).all(axis=0)
    measured = (exposed != UNKNOWN).all(axis=0)
    phase = np.stack([_phase_numbers(calls, ranks)[chosen] for calls, chosen in members])
    return _Part(
        start=first,
        signatures=signatures,
        signature=signature,
        offsets=_lists(arrival - arrival.min(axis=0), np.full(len(group), comparable)),
        before=np.where(all_known, before.min(axis=0), UNKNOWN),
        rank_before=_lists(before, all_known & group.complete),
        overlap=np.where(measured, overlap[longest, at], UNKNOWN),
        exposed=np.where(measured, exposed[longest, at], UNKNOWN),
        phase_differs=int((phase != phase[0]).any(axis=0).sum()),
        uneven=uneven,
        sites=_sites(*members[0]),
    )


def _sites(calls: RankCalls, chosen: Ints) -> NDArray[np.object_]:
    if calls.site is None:
        return np.full(len(chosen), None, np.object_)
    return np.asarray([*calls.sites, None], np.object_)[calls.site[chosen]]


def _signatures(group: Matched, members: list[tuple[RankCalls, Ints]]) -> tuple[list[Signature], Ints, int]:
    """Distinct signatures with phases, the number of each event's, and how many events are uneven.

    Where sizes differ between ranks (all-to-all) the largest counts and the element counts are unknown.
    A send or receive whose other end was not profiled stays what the profiled rank called.
    """
    codes = np.stack(
        [calls.key[chosen] for calls, chosen in members]
        + [members[0][0].phase[members[0][1]], members[0][0].receives[members[0][1]].astype(np.int64)]
    )
    mixed = np.zeros(codes.shape[1], np.int64)
    for code in codes:
        mixed = np.unique(mixed * (int(code.max()) + 1) + code, return_inverse=True)[1].reshape(-1)
    _, first, signature = np.unique(mixed, return_index=True, return_inverse=True)
    distinct = codes[:, first]
    result: list[Signature] = []
    uneven = np.zeros(distinct.shape[1], np.bool_)
    for number, column in enumerate(distinct.T.tolist()):
        said = [calls.keys[key][1] for (calls, _), key in zip(members, column, strict=False)]
        chosen = said[0]
        changes: dict[str, object] = {"phase": members[0][0].phases[column[-2]]}
        for name in ("reduction_op", "root_rank"):
            given = {getattr(s, name) for s in said} - {None}
            changes[name] = given.pop() if len(given) == 1 else None
        if len({(s.in_elements, s.out_elements) for s in said}) > 1:
            uneven[number] = True
            changes |= {"bytes": max(s.bytes for s in said), "in_elements": None, "out_elements": None}
        if chosen.op == "point_to_point" and not group.complete:
            changes["op"] = "recv" if column[-1] else "send"
        result.append(msgspec.structs.replace(chosen, **changes))
    signature = signature.reshape(-1).astype(np.int64)
    return result, signature, int(uneven[signature].sum())


def _phase_numbers(calls: RankCalls, ranks: Sequence[RankCalls]) -> Ints:
    names = sorted({name for rank in ranks for name in rank.phases})
    return np.asarray([names.index(name) for name in calls.phases], np.int64)[calls.phase]


def _lists(rows: Ints, known: NDArray[np.bool_]) -> Ragged:
    """One list per event of int64[members, n], unknown where ``known`` is False."""
    lengths = np.where(known, rows.shape[0], 0)
    values = np.ascontiguousarray(rows.T[known]).reshape(-1)
    return Ragged(values, np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]), known)
