"""All-to-alls that a job made of messages: groups in which a rank sends to and receives from every rank.

NCCL had no all-to-all before 2.28; frameworks call it so. Whether messages are an all-to-all is decided once for a
communicator, for all its ranks at once: every message of every rank lies in such a group, or all stay messages.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from commcanary.sources.nsys.communicators import Communicators, Process


@dataclass(frozen=True)
class Message:
    """A send or receive of a process: its range, launch window, communicator, peer's rank in it, and size."""

    range: int
    window: int
    grouped: bool
    communicator: int | None
    sends: bool
    peer: int
    bytes: int


@dataclass(frozen=True)
class Exchange:
    """A group of messages that is one all-to-all. ``first`` is the range that stands for it."""

    first: int
    parts: tuple[int, ...]
    communicator: int | None
    bytes: int


def exchanges_of(
    messages: Mapping[Process, Sequence[Message]], communicators: Communicators
) -> dict[Process, list[Exchange]]:
    """The all-to-alls of each process; ``messages`` are all of its sends and receives."""
    groups: dict[int | None, dict[tuple[Process, int], list[Message]]] = defaultdict(lambda: defaultdict(list))
    outside: set[int | None] = set()
    for process, own in messages.items():
        for message in own:
            if message.grouped:
                groups[message.communicator][process, message.window].append(message)
            else:
                outside.add(message.communicator)
    found: dict[Process, list[Exchange]] = defaultdict(list)
    for communicator, parts in groups.items():
        size = _size(communicator, communicators)
        if communicator in outside or size is None or size < 2:
            continue
        if not all(_is_exchange(group, size) for group in parts.values()):
            continue
        for (process, _), group in parts.items():
            given, got = (sum(m.bytes for m in group if m.sends is sends) for sends in (True, False))
            ranges = tuple(message.range for message in group)
            found[process].append(Exchange(min(ranges), ranges, communicator, max(given, got)))
    return found


def _is_exchange(group: Iterable[Message], size: int) -> bool:
    peers: dict[bool, list[int]] = {True: [], False: []}
    for message in group:
        peers[message.sends].append(message.peer)
    return sorted(peers[True]) == sorted(peers[False]) == list(range(size))


def _size(communicator: int | None, communicators: Communicators) -> int | None:
    """Ranks of the communicator, where its creation was captured."""
    seats = communicators.seats.get(communicator)
    return None if not seats else next(iter(seats.values())).ranks
