"""Whether and how time stamps of different ranks may be compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from commcanary.artifacts.events import UNKNOWN
from commcanary.errors import InputRefusal, UsageError
from commcanary.units import NS_PER_US, ns_from_us

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from commcanary.sources.calls.matching import Matched
    from commcanary.sources.calls.rank_calls import RankCalls

    Ints = NDArray[np.int64]

SYNCHRONISING = frozenset({"all_reduce", "all_gather", "reduce_scatter", "all_to_all"})
"""No rank leaves these before every rank has entered."""

LARGEST_APART_NS = 600 * 10**9
"""Ten minutes, the default timeout of a collective: clocks that put arrivals further apart are not shared."""

CAUSALITY_NS = 10**6
"""Host and device clocks are aligned to well under a millisecond; a larger violation is not one clock."""


LARGEST_OFFSET_US = 4e15
"""More than lies between any two clocks that count from 1970 and from a start: 126 years."""


@dataclass(frozen=True)
class ClockChoice:
    """What the user says of the ranks' clocks, one thing at most.

    ``shared``: time stamps of all ranks are comparable. ``offsets_us``: microseconds to *add* to each rank's
    time stamps, for every rank. ``estimate``: fit them from the ends of synchronising collectives.
    """

    shared: bool = False
    offsets_us: Mapping[int, float] = field(default_factory=dict)
    estimate: bool = False

    def __post_init__(self) -> None:
        if sum([self.shared, bool(self.offsets_us), self.estimate]) > 1:
            raise UsageError("give one of --assume-shared-clock, --clock-offset-us and --estimate-clock, not several")
        for rank, us in self.offsets_us.items():
            if not abs(us) <= LARGEST_OFFSET_US:  # NaN is not
                raise UsageError(
                    f"--clock-offset-us {rank}={us:g}: give {-LARGEST_OFFSET_US:g} to {LARGEST_OFFSET_US:g}"
                )

    @property
    def given(self) -> bool:
        """Whether the user says anything."""
        return self.shared or bool(self.offsets_us) or self.estimate


@dataclass(frozen=True)
class Clock:
    """``add_ns[position]`` makes a rank's times comparable; ``known`` says whether they then are.

    ``said`` describes the clock in the header, with an error bound in microseconds where it was estimated.
    """

    known: bool
    add_ns: tuple[int, ...]
    said: dict[str, Any] = field(default_factory=dict)


def clock_of(ranks: Sequence[RankCalls], groups: Sequence[Matched], choice: ClockChoice) -> Clock:
    """The clock that the user asks for.

    Raises ``UsageError`` where offsets are missing or too many, ``InputRefusal`` where only some profiles have
    an absolute base, or where there is nothing to estimate from.
    """
    if choice.estimate:
        return _estimated(ranks, groups)
    if not (choice.shared or choice.offsets_us):
        return Clock(False, _anchored(ranks, groups))
    bases = [calls.job.base_ns for calls in ranks]
    without = [calls for calls in ranks if calls.job.base_ns is None]
    if without and len(without) < len(ranks):
        raise InputRefusal(
            "baseTimeNanoseconds",
            "is missing while other profiles have it, so times cannot be compared",
            "export all ranks with one version, or use --estimate-clock",
            file=without[0].name,
        )
    add = [base or 0 for base in bases]
    if choice.shared:
        return Clock(True, tuple(add), {"method": "assumed shared"})
    given = choice.offsets_us
    wanted = {calls.job.rank for calls in ranks}
    if set(given) != wanted:
        odd = sorted(set(given) ^ wanted)
        raise UsageError(
            f"--clock-offset-us: rank {odd[0]} has {'no offset' if odd[0] in wanted else 'an offset but no profile'}; "
            "give RANK=US once for every profiled rank"
        )
    add = [base + ns_from_us(given[calls.job.rank]) for base, calls in zip(add, ranks, strict=True)]
    said = {str(rank): given[rank] for rank in sorted(given)}
    return Clock(True, tuple(add), {"method": "declared offsets", "offsets_us": said})


def check_plausible(
    ranks: Sequence[RankCalls], group: Matched, arrival: Ints, end: Ints, synchronising: NDArray[np.bool_]
) -> None:
    """Raise ``InputRefusal`` where compared times contradict what a collective is.

    ``arrival`` and ``end`` are int64[members, n] on the common clock (end -1 unknown): no arrivals minutes
    apart, and no rank out of a synchronising collective before another is in.
    """
    apart = arrival.max(axis=0) - arrival.min(axis=0)
    if (apart > LARGEST_APART_NS).any():
        at = int(np.argmax(apart > LARGEST_APART_NS))
        late = ranks[group.present[int(arrival[:, at].argmax())]]
        early = ranks[group.present[int(arrival[:, at].argmin())]]
        raise InputRefusal(
            f"process group {group.group.name!r} call {at}",
            f"rank {late.job.rank} arrives {apart[at] / 1e9:.0f} s after rank {early.job.rank}, "
            f"longer than a collective waits ({LARGEST_APART_NS / 1e9:.0f} s)",
            "these clocks are not shared; use --clock-offset-us or --estimate-clock",
            file=late.name,
        )
    left = np.where(end == UNKNOWN, np.iinfo(np.int64).max, end).min(axis=0)
    violation = np.where(synchronising, arrival.max(axis=0) - left, 0)
    if (violation > CAUSALITY_NS).any():
        at = int(np.argmax(violation > CAUSALITY_NS))
        raise InputRefusal(
            f"process group {group.group.name!r} call {at}",
            f"a rank leaves {violation[at] / NS_PER_US:.0f} us before rank "
            f"{ranks[group.present[int(arrival[:, at].argmax())]].job.rank} arrives",
            "these clocks are not shared; use --clock-offset-us or --estimate-clock",
        )


def _anchored(ranks: Sequence[RankCalls], groups: Sequence[Matched]) -> tuple[int, ...]:
    """Shifts that put each rank's first common call where the ranks listed before it have it.

    Only for the order of events that the first rank took no part in: no arrival is compared.
    """
    add: list[int | None] = [0, *[None] * (len(ranks) - 1)]
    for position in _reachable(add, groups):
        anchor, group, member, base = position
        mine, theirs = group.calls[member][0], group.calls[base][0]
        add[anchor] = (add[group.present[base]] or 0) + int(
            ranks[group.present[base]].issue[theirs] - ranks[anchor].issue[mine]
        )
    start = int(ranks[0].issue[0]) if len(ranks[0]) else 0
    return tuple(
        start - int(calls.issue[0]) if shift is None and len(calls) else shift or 0
        for shift, calls in zip(add, ranks, strict=True)
    )


def _estimated(ranks: Sequence[RankCalls], groups: Sequence[Matched]) -> Clock:
    """Offsets from the ends of synchronising collectives, which all ranks leave together.

    The offset of a rank is the median difference of ends; the largest deviation from it bounds its error,
    added up along the chain of groups that leads to the first rank.
    """
    usable = [_synchronised(ranks, group) for group in groups]
    chosen = [group for group in usable if group is not None and len(group)]
    add: list[int | None] = [0, *[None] * (len(ranks) - 1)]
    bound = [0] * len(ranks)
    used = [0] * len(ranks)
    for position, group, member, base in _reachable(add, chosen):
        known = ranks[group.present[base]]
        difference = known.end[group.calls[base]] - ranks[position].end[group.calls[member]]
        middle = int(np.median(difference))
        add[position] = (add[group.present[base]] or 0) + middle
        bound[position] = bound[group.present[base]] + int(np.abs(difference - middle).max())
        used[position] = len(difference)
    lost = [calls for calls, shift in zip(ranks, add, strict=True) if shift is None]
    if lost:
        raise InputRefusal(
            "--estimate-clock",
            f"rank {lost[0].job.rank} shares no synchronising collective of known end with rank {ranks[0].job.rank}",
            "give --clock-offset-us for every rank",
            file=lost[0].name,
        )
    said = {
        "method": "estimated from ends of synchronising collectives",
        "error_bound_us": max(bound) / NS_PER_US,
        "offsets_us": {str(c.job.rank): (s or 0) / NS_PER_US for c, s in zip(ranks, add, strict=True)},
        "error_bounds_us": {str(c.job.rank): b / NS_PER_US for c, b in zip(ranks, bound, strict=True)},
        "collectives": {str(c.job.rank): n for c, n in zip(ranks, used, strict=True)},
    }
    return Clock(True, tuple(shift or 0 for shift in add), said)


def _synchronised(ranks: Sequence[RankCalls], group: Matched) -> Matched | None:
    from dataclasses import replace

    if len(group.present) < 2:
        return None
    first = ranks[group.present[0]]
    fits = np.asarray([s.op in SYNCHRONISING for _, s in first.keys], np.bool_)[first.key[group.calls[0]]]
    for position, calls in zip(group.present, group.calls, strict=True):
        fits &= ranks[position].end[calls] != UNKNOWN
    return replace(group, calls=group.calls[:, fits])


def _reachable(add: list[int | None], groups: Sequence[Matched]) -> Any:
    """Yield (rank's position, group, its member number, member number of a known rank) until none is left."""
    while True:
        step = next(
            (
                (position, group, member, base)
                for group in groups
                if len(group)
                for base, known in enumerate(group.present)
                if add[known] is not None
                for member, position in enumerate(group.present)
                if add[position] is None
            ),
            None,
        )
        if step is None:
            return
        yield step
