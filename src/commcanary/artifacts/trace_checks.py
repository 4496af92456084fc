"""What every trace must satisfy, whichever container it came in."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.events import STANDARD_OPS, UNKNOWN, Events, ProcessGroup, Signature
from commcanary.artifacts.input_limit import check_input_bytes
from commcanary.errors import InputRefusal
from commcanary.units import MAX_TIME_US, NS_PER_US

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_TIME_NS = int(MAX_TIME_US) * NS_PER_US
MAX_INTEGER = 2**63 - 1
MAX_RANK = 2**31 - 1
MAX_RANKS = 2**20
"""Ranks of one group."""
MAX_ARRIVALS = 2**31 - 1
"""Arrival times of all events together: what one Arrow list column can hold."""

ARRIVAL_BYTES = 72
"""Memory that reading, compiling and replaying take for each arrival time, measured: 8 for the time, the rest for
copies (in file order, in order of time, as a column, as expected from the canary), masks and differences.
"""


def check_trace(events: Events, start_ns: NDArray[np.int64]) -> None:
    """Raise ``InputRefusal`` naming the first event and field that no trace may have.

    ``start_ns`` is int64[n], -1 where not given.
    """
    if len(events) == 0:
        raise InputRefusal("events", "the trace is empty", "a trace needs one event or more")
    check_events(events)
    _check_starts(events, start_ns)
    _check_first_arrivals(events)


def check_events(events: Events) -> None:
    """Raise ``InputRefusal`` for what neither a trace nor an expanded canary may have.

    A canary may lack a rank at offset 0: the centre of several arrival patterns need not have one.
    """
    for number, group in enumerate(events.groups):
        group_is_wrong = group_fault(group)
        if group_is_wrong:
            users = [i for i, s in enumerate(events.signatures) if s.group == number]
            raise InputRefusal(f"{_first(events, users)}.ranks", *group_is_wrong)
    for number, signature in enumerate(events.signatures):
        fault = signature_fault(signature, events.groups[signature.group])
        if fault:
            field, found, remedy = fault
            raise InputRefusal(f"{_first(events, [number])}.{field}", found, remedy)
    _check_times(events)
    _check_per_rank(events)
    _check_links(events)


def group_fault(group: ProcessGroup) -> tuple[str, str] | None:
    """What is wrong with a process group and how to mend it, or None."""
    ranks = group.ranks
    if isinstance(ranks, int):
        return None if 0 < ranks <= MAX_RANKS else (f"is {ranks}", f"give a count of 1 to {MAX_RANKS}, or a list")
    if not ranks:
        return "is an empty list", "name the ranks; an unknown list of ranks is not the world"
    if len(ranks) > MAX_RANKS:
        return f"names {len(ranks)} ranks", f"a group has at most {MAX_RANKS}"
    if min(ranks) < 0 or max(ranks) > MAX_RANK:
        return f"holds rank {min(ranks) if min(ranks) < 0 else max(ranks)}", f"ranks are 0 to {MAX_RANK}"
    if len(set(ranks)) < len(ranks):
        twice = Counter(ranks).most_common(1)[0][0]
        return f"names rank {twice} twice", "name each rank once"
    return None


def signature_fault(signature: Signature, group: ProcessGroup) -> tuple[str, str, str] | None:
    """(field, finding, remedy) of the first fault of an operation on ``group``, or None."""
    s = signature
    if not 0 < s.bytes <= MAX_INTEGER:
        return "bytes", f"is {s.bytes}", "bytes are a whole number above 0 and below 2^63"
    if s.op not in STANDARD_OPS and not s.custom_op:
        known = ", ".join(sorted(STANDARD_OPS))
        return "op", f"is {s.op!r}", f"use one of {known}, or say custom_op: true"
    for name in ("concurrent_groups", "in_elements", "out_elements"):
        value = getattr(s, name)
        if value is not None and not 0 <= value <= MAX_INTEGER:
            return name, f"is {value}", "give a whole number from 0 to below 2^63"
    members = (
        set(group.members)
        if s.sender_rank is not None or s.receiver_rank is not None or s.root_rank is not None
        else set()
    )
    for name in ("sender_rank", "receiver_rank", "root_rank"):
        rank = getattr(s, name)
        if rank is not None and rank not in members:
            return name, f"is {rank}, which is not among the event's ranks", "name one of the event's ranks"
    if s.sender_rank is not None and s.sender_rank == s.receiver_rank:
        return "receiver_rank", f"is {s.receiver_rank}, the sender itself", "name two different ranks"
    if s.op == "point_to_point" and (s.sender_rank is None or s.receiver_rank is None):
        return "op", "is point_to_point without both ends", "give sender_rank and receiver_rank"
    for name in ("tag", "channel"):
        if getattr(s, name) == "":
            return name, "is an empty string", "leave it out or name it"
    return None


def check_arrivals_fit(arrivals: int, place: str) -> None:
    """Raise ``InputRefusal`` where a trace needs more arrival times than a file, or the limit of an input, can hold."""
    if arrivals > MAX_ARRIVALS:
        raise InputRefusal(
            place, f"brings the trace to {arrivals} ranks x events", f"{MAX_ARRIVALS} fit: cut the trace into windows"
        )
    check_input_bytes(ARRIVAL_BYTES * arrivals, "an arrival time for every rank of every event takes")


def _check_times(events: Events) -> None:
    columns = {
        "gap_us": events.gap_ns,
        "compute_before_us": events.compute_before_ns,
        "compute_overlap_us": events.compute_overlap_ns,
        "observed_exposed_us": events.observed_exposed_ns,
    }
    for name, values in columns.items():
        _check_range(name, values, 0 if name == "gap_us" else UNKNOWN)
    clock = np.cumsum(events.gap_ns)
    _refuse_first(clock < 0, "gap_us", events.gap_ns / NS_PER_US, "the gaps add up to more than 2^63 ns: cut the trace")
    pressure = events.compute_pressure
    _refuse_first(~((pressure >= 0) & np.isfinite(pressure)), "compute_pressure", pressure, "give 0 or more")
    observed = events.observed_exposed_ns != UNKNOWN
    if observed.any() and not observed.all():
        row = int(np.argmax(~observed))
        raise InputRefusal(
            f"events[{row}].observed_exposed_us",
            "is missing while other events have it",
            "give it on all events or on none",
        )


def _check_starts(events: Events, start_ns: NDArray[np.int64]) -> None:
    _check_range("start_us", start_ns, UNKNOWN)
    if (start_ns != UNKNOWN).all():
        steps = np.diff(start_ns)
        _refuse_first(
            np.concatenate([[False], steps < 0]),
            "start_us",
            start_ns / NS_PER_US,
            "order the rows by start_us",
        )
        _refuse_first(
            np.concatenate([[False], steps != events.gap_ns[1:]]),
            "gap_us",
            events.gap_ns / NS_PER_US,
            "leave gap_us out where start_us is given, or make them agree within 0.001 us",
        )


def _check_range(field: str, values: NDArray[np.int64], lowest: int) -> None:
    wrong = (values < lowest) | (values > MAX_TIME_NS)
    _refuse_first(wrong, field, values / NS_PER_US, f"give 0 to {MAX_TIME_US:.0f} us")


def _check_per_rank(events: Events) -> None:
    sizes = np.array([events.groups[s.group].size for s in events.signatures], np.int64)[events.signature]
    for name, ragged in (
        ("rank_arrival_us", events.offsets_ns),
        ("rank_compute_before_us", events.rank_compute_before_ns),
    ):
        lengths = ragged.lengths
        _refuse_first(ragged.known & (lengths != sizes), name, lengths, "give one time per rank of the event")
        outside = (ragged.values < 0) | (ragged.values > MAX_TIME_NS)
        if outside.any():
            position = int(np.argmax(outside))
            row = int(np.searchsorted(ragged.bounds, position, side="right")) - 1
            raise InputRefusal(
                f"events[{row}].{name}",
                f"holds {ragged.values[position] / NS_PER_US}",
                f"give 0 to {MAX_TIME_US:.0f} us",
            )


def _check_first_arrivals(events: Events) -> None:
    filled = np.flatnonzero(events.offsets_ns.lengths > 0)
    if len(filled):
        earliest = np.minimum.reduceat(events.offsets_ns.values, events.offsets_ns.bounds[:-1][filled])
        if (earliest != 0).any():
            row = int(filled[np.argmax(earliest != 0)])
            raise InputRefusal(
                f"events[{row}].rank_arrival_us",
                "has no rank at offset 0",
                "offsets count from the first arrival",
            )


def _check_links(events: Events) -> None:
    _refuse_first(events.message_sequence < UNKNOWN, "message_sequence", events.message_sequence, "give 0 or more")
    position = np.arange(len(events), dtype=np.int64)
    consumer = events.consumer
    wrong = (consumer != UNKNOWN) & ((consumer <= position) | (consumer >= len(events)))
    _refuse_first(wrong, "consumed_by", consumer, "name an event that comes later in the trace")


def _refuse_first(wrong: NDArray[np.bool_], field: str, values: NDArray[np.generic], remedy: str) -> None:
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputRefusal(f"events[{row}].{field}", f"is {values[row]}", remedy)


def _first(events: Events, signatures: list[int]) -> str:
    return f"events[{int(np.argmax(np.isin(events.signature, signatures)))}]"
