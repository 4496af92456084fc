"""Whether every rank of a basic trace reaches its end, or stands still for ever at some entry.

A message is taken to need both ends at the same time (a rendezvous), as gloo and NCCL need for long ones:
``send`` and ``recv`` hold their rank until the other end is reached. Collectives, ``isend`` and ``irecv``
hold nobody; a ``wait`` holds its rank until every member has reached the entry that it waits for.
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any

from commcanary.targets.param_format import RECEIVES, SENDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commcanary.targets.param_format import Entry

_BLOCKING = frozenset({"send", "recv"})


def partners(entries: Sequence[Entry]) -> dict[int, int]:
    """Index of every send and receive -> index of its other end: k-th meets k-th on a (group, from, to)."""
    open_ends: dict[tuple[Any, Any, Any, bool], deque[int]] = defaultdict(deque)
    met: dict[int, int] = {}
    for index, entry in enumerate(entries):
        comms = entry.get("comms")
        if comms not in SENDS | RECEIVES:
            continue
        channel = (entry.get("pg_id"), entry["src_rank"], entry["dst_rank"])
        sends = comms in SENDS
        if open_ends[(*channel, not sends)]:
            other = open_ends[(*channel, not sends)].popleft()
            met[index], met[other] = other, index
        else:
            open_ends[(*channel, sends)].append(index)
    return met


def standstill(entries: Sequence[Entry]) -> set[int]:
    """Indices of the entries whose completion some rank awaits for ever; empty where all ranks finish.

    The array must already follow the format's rules. Where each send lies directly beside its receive
    nothing can stand still: all ranks follow one order, and the first open entry can always complete.
    """
    met = partners(entries)
    if all(abs(one - other) == 1 for one, other in met.items()):
        return set()
    return _Ranks(entries, met).run()


class _Ranks:
    """All ranks' programs side by side; each runs until it must wait for an entry that others must reach."""

    def __init__(self, entries: Sequence[Entry], met: Mapping[int, int]) -> None:
        self.entries = entries
        self.met = met
        self.members = {e["pg_id"]: list(e["global_ranks"]) for e in entries if e.get("comms") == "init"}
        self.needed: list[int] = []
        self.program: dict[int, list[int]] = defaultdict(list)
        for index, entry in enumerate(entries):
            ranks = self._participants(entry)
            self.needed.append(len(ranks))
            for rank in ranks:
                self.program[rank].append(index)
        self.reached: dict[int, int] = defaultdict(int)
        self.by_req: dict[tuple[int, Any], int] = {}
        self.position: dict[int, int] = dict.fromkeys(self.program, 0)
        self.held: dict[int, list[int]] = defaultdict(list)
        self.ready: deque[int] = deque(self.program)

    def run(self) -> set[int]:
        while self.ready:
            rank = self.ready.popleft()
            awaited = self._advance(rank)
            if awaited is not None:
                self.held[awaited].append(rank)
        return {entry for entry, ranks in self.held.items() if ranks}

    def _advance(self, rank: int) -> int | None:
        """Run ``rank`` as far as it goes; the entry that it then awaits, or None at its end."""
        program = self.program[rank]
        while self.position[rank] < len(program):
            index = program[self.position[rank]]
            entry = self.entries[index]
            waits = entry["comms"] == "wait"
            target = self.by_req.get((rank, entry["req"])) if waits else index
            if not waits and self.by_req.get((rank, entry["req"])) != index:
                self._reach(rank, index)
            blocks = waits or entry["comms"] in _BLOCKING
            if blocks and target is not None and not self._complete(target):
                return target
            self.position[rank] += 1
        return None

    def _reach(self, rank: int, index: int) -> None:
        self.reached[index] += 1
        self.by_req[rank, self.entries[index]["req"]] = index
        for woken in (index, self.met.get(index, index)):
            if self._complete(woken):
                self.ready.extend(self.held.pop(woken, ()))

    def _complete(self, index: int) -> bool:
        if self.entries[index].get("comms") in SENDS | RECEIVES:
            return index in self.met and self.reached[index] > 0 and self.reached[self.met[index]] > 0
        return self.reached[index] == self.needed[index]

    def _participants(self, entry: Entry) -> Sequence[int]:
        comms = entry.get("comms")
        if comms in (None, "init"):
            return ()
        if comms in SENDS:
            return (entry["src_rank"],)
        return (entry["dst_rank"],) if comms in RECEIVES else self.members[entry["pg_id"]]
