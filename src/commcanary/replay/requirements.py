"""Refuse a replay that needs what the events do not know, or columns that contradict their groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.errors import InputRefusal, UnknownValueRefusal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.artifacts.events import Events


def require_known(known: NDArray[np.bool_], field: str, supplied_by: str) -> None:
    """Raise UnknownValueRefusal at the first event that does not know ``field``.

    ``known`` is bool[n] in source order; ``supplied_by`` says what carries the value.
    """
    unknown = np.flatnonzero(~known)
    if len(unknown):
        raise UnknownValueRefusal(
            f"events[{unknown[0]}].{field}",
            f"unknown, as in {len(unknown):,} of {len(known):,} events, and this replay needs it",
            supplied_by,
        )


def require_sound_groups(events: Events) -> None:
    """Raise InputRefusal for an empty group, or known arrival offsets that are not one per rank."""
    for index, group in enumerate(events.groups):
        if group.size < 1:
            raise InputRefusal(f"groups[{index}].ranks", "the group is empty", "a group has at least one rank")
    wrong = np.flatnonzero(events.offsets_ns.known & (events.offsets_ns.lengths != group_sizes(events)))
    if len(wrong):
        first = int(wrong[0])
        size = events.group_of(events.signatures[events.signature[first]]).size
        raise InputRefusal(
            f"events[{first}].rank_arrival_us",
            f"{events.offsets_ns.lengths[first]} arrivals for a group of {size} ranks",
            "give one arrival for each rank of the group",
        )


def group_sizes(events: Events) -> NDArray[np.int64]:
    """int64[n]: the number of ranks of each event."""
    per_signature = np.array([events.group_of(s).size for s in events.signatures], dtype=np.int64)
    return per_signature[events.signature]


def require_arrivals(events: Events, needed: NDArray[np.bool_] | bool = True) -> None:
    """Refuse unknown arrival offsets where they are ``needed`` (bool[n], or everywhere)."""
    require_known(
        events.offsets_ns.known | ~np.asarray(needed),
        "rank_arrival_us",
        "profile every rank on one clock (import-kineto --assume-shared-clock or --clock-offset-us), "
        "or state it with --assume arrival_skew_us=VALUE",
    )


def require_overlap(events: Events) -> None:
    """Refuse unknown overlapped compute."""
    require_known(
        events.compute_overlap_ns >= 0,
        "compute_overlap_us",
        "import a profile that holds compute kernels, or state it with --assume compute_overlap_us=VALUE",
    )


def require_pressure(events: Events) -> None:
    """Refuse unknown compute pressure (NaN)."""
    require_known(~np.isnan(events.compute_pressure), "compute_pressure", "give it in the trace (0.5 is usual)")


def require_gaps(events: Events) -> None:
    """Refuse unknown gaps between first arrivals."""
    require_known(
        (events.gap_ns >= 0) & events.gaps_known,
        "gap_us",
        "import a profile with time stamps, or state it with --assume gap_us=VALUE",
    )


def require_compute_before(events: Events) -> None:
    """Refuse unknown compute before, common to the ranks or each rank's own."""
    require_known(
        (events.compute_before_ns >= 0) | events.rank_compute_before_ns.known,
        "compute_before_us",
        "import a profile that holds compute kernels, or state it with --assume compute_before_us=VALUE",
    )


def require_rank_compute(events: Events) -> None:
    """Raise InputRefusal where known per-rank compute is not one value per rank."""
    given = events.rank_compute_before_ns
    wrong = np.flatnonzero(given.known & (given.lengths != group_sizes(events)))
    if len(wrong):
        raise InputRefusal(
            f"events[{wrong[0]}].rank_compute_before_us",
            f"{given.lengths[wrong[0]]} values for a group of {group_sizes(events)[wrong[0]]} ranks",
            "give one value for each rank of the group",
        )
