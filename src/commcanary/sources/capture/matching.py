"""The calls of all ranks matched into logical collectives, by invocation order within each process group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.events import ProcessGroup
from commcanary.errors import IntegrityRefusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from commcanary.sources.capture.shard import CallKey, Shard

    Ints = NDArray[np.int64]

MESSAGES = ("send", "recv")
_UNEVEN = ("all_to_all", "gather", "scatter")
_UNEVEN_SHARES = ("all_gather", "reduce_scatter")


@dataclass(frozen=True)
class Matched:
    """The events of one program: a group's collectives, or the messages from one rank to another with one tag.

    ``calls[m, i]`` is the place of event i among the calls of the group's m-th rank.
    """

    group: ProcessGroup
    calls: Ints


def matched(shards: Sequence[Shard]) -> list[Matched]:
    """Every call of every rank, matched. ``shards[r]`` is rank r's, as from ``one_job``.

    Raises ``IntegrityRefusal`` at the first call at which two ranks of a group diverge.
    """
    of_rank = {shard.rank: shard for shard in shards}
    programs: dict[tuple[ProcessGroup, str], dict[int, Ints]] = {}
    for shard in shards:
        numbers: dict[tuple[ProcessGroup, str], list[int]] = {}
        for number, key in enumerate(shard.said.keys):
            numbers.setdefault(_program(shard, key), []).append(number)
        for program, mine in numbers.items():
            chosen = np.flatnonzero(np.isin(shard.key, mine))
            if len(chosen):
                programs.setdefault(program, {})[shard.rank] = chosen
    result = []
    for (group, _), calls in programs.items():
        members = [of_rank[rank] for rank in group.members]
        for other in members[1:]:
            _check_equal(group, members[0], other, calls)
        result.append(Matched(group, np.stack([calls[shard.rank] for shard in members])))
    return result


def comparable(key: CallKey) -> tuple[object, ...]:
    """What must be equal on all ranks of a group."""
    if key.op in MESSAGES:
        return "message", key.bytes
    if key.op in _UNEVEN:
        return key.op, key.dtype, key.root
    if key.op in _UNEVEN_SHARES:
        return key.op, key.bytes, key.dtype, key.reduction
    return key.op, key.bytes, key.in_elements, key.out_elements, key.dtype, key.root, key.reduction


def _program(shard: Shard, key: CallKey) -> tuple[ProcessGroup, str]:
    group = shard.said.groups[key.group]
    if key.op in MESSAGES and key.peer is not None:
        ends = (shard.rank, key.peer) if key.op == "send" else (key.peer, shard.rank)
        return ProcessGroup.of(group.name, ends), f"messages with tag {key.tag}"
    return ProcessGroup.of(group.name, group.ranks), "collectives"


def _check_equal(group: ProcessGroup, first: Shard, other: Shard, calls: dict[int, Ints]) -> None:
    none = np.zeros(0, np.int64)
    mine, theirs = calls.get(first.rank, none), calls.get(other.rank, none)
    codes: dict[tuple[object, ...], int] = {}

    def program(shard: Shard, chosen: Ints) -> Ints:
        code = [codes.setdefault(comparable(key), len(codes)) for key in shard.said.keys]
        return np.asarray(code, np.int64)[shard.key[chosen]]

    common = min(len(mine), len(theirs))
    differs = program(first, mine[:common]) != program(other, theirs[:common])
    if not differs.any() and len(mine) == len(theirs):
        return
    at = int(np.argmax(differs)) if differs.any() else common
    raise IntegrityRefusal(
        f"process group {group.name!r} call {at}",
        f"rank {first.rank} {_told(first, mine, at)} but rank {other.rank} {_told(other, theirs, at)}"
        f" ({len(mine)} and {len(theirs)} calls)",
        "all ranks of a group must make the same calls in the same order; see also what the ranks' shards left out",
        file=other.path.name,
    )


def _told(shard: Shard, chosen: Ints, at: int) -> str:
    if at >= len(chosen):
        return "made no such call"
    key = shard.said.keys[shard.key[chosen[at]]]
    return f"called {key.op} of {key.bytes} bytes"
