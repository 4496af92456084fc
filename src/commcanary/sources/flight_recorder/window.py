"""The calls that every dump of a group still holds.

Each rank keeps its last calls in a ring, so dumps begin and, in a job that hangs, end at different calls. Collectives
of a group are numbered alike on all its ranks. Several of one coalesced call share a number: it is kept whole or not.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commcanary.sources.calls.call import Call, Fate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commcanary.artifacts.events import ProcessGroup
    from commcanary.sources.flight_recorder.dump import Entry


@dataclass(frozen=True)
class RankEntries:
    """The entries of one dump with what was read from each; ``lost`` calls are no longer in its ring."""

    rank: int
    entries: Sequence[Entry]
    calls: list[Call]
    lost: int


def cut_to_window(dumps: Sequence[RankEntries]) -> list[str]:
    """Turn calls that not every dump of their group holds into ones outside, in place; what was cut, in words.

    Messages are numbered by each rank for itself: where a ring has lost calls, those of a pair cannot be aligned.
    """
    held: dict[ProcessGroup, dict[int, Counter[int]]] = defaultdict(dict)
    for position, dump in enumerate(dumps):
        for entry, call in zip(dump.entries, dump.calls, strict=True):
            if call.fate is Fate.TAKEN and call.group is not None and _is_collective(call):
                held[call.group].setdefault(position, Counter())[entry.collective_seq_id] += 1
    told: list[str] = []
    keep: dict[ProcessGroup, set[int]] = {}
    for group, of in held.items():
        if len(of) < 2 or any(-1 in counts for counts in of.values()):
            continue
        first, last = max(min(counts) for counts in of.values()), min(max(counts) for counts in of.values())
        numbers = {n for counts in of.values() for n in counts if first <= n <= last}
        for edge in (first, last):  # a coalesced call may have lost a part at a ring's edge
            if edge in numbers and len({counts[edge] for counts in of.values()}) > 1:
                numbers.discard(edge)
        keep[group] = numbers
        ends = {dumps[p].rank: (min(counts), max(counts)) for p, counts in of.items()}
        if len(set(ends.values())) > 1:
            shown = ", ".join(f"rank {rank} holds {low} to {high}" for rank, (low, high) in sorted(ends.items())[:8])
            told.append(f"process group {group.name!r}: calls {first} to {last} are in every dump ({shown})")
    unaligned = len(dumps) > 1 and any(dump.lost for dump in dumps)
    for dump in dumps:
        for i, (entry, call) in enumerate(zip(dump.entries, dump.calls, strict=True)):
            if call.fate is not Fate.TAKEN or call.group is None:
                continue
            if _is_collective(call):
                if call.group in keep and entry.collective_seq_id not in keep[call.group]:
                    dump.calls[i] = Call(Fate.OUTSIDE, call.rule, "not in every dump of its group")
            elif unaligned:
                dump.calls[i] = Call(Fate.OUTSIDE, call.rule, "a message, and rings that begin at different calls")
    return told


def _is_collective(call: Call) -> bool:
    return call.signature is not None and call.signature.op != "point_to_point"
