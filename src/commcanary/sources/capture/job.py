"""The shards of one job: every rank once, one session, one story."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING

from commcanary.errors import IntegrityRefusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commcanary.sources.capture.shard import Shard

AGAIN = "capture again, one job a command"


def one_job(shards: Sequence[Shard]) -> list[Shard]:
    """The shards in order of rank.

    Raises ``IntegrityRefusal`` naming the shards and the fault: shards of several sessions, a process that was
    two ranks, two shards of one rank, ranks that disagree about world, backend or a group, a missing rank.
    """
    first = shards[0]
    for shard in shards:
        if shard.said.session != first.said.session:
            raise _refused(shard, "session", f"is {shard.said.session} but {first.said.session} in {first.path.name}")
        if shard.said.conflict is not None:
            raise _refused(shard, "conflict", f"one process {shard.said.conflict}")
    ordered = sorted(shards, key=lambda shard: shard.rank)
    for before, after in itertools.pairwise(ordered):
        if before.rank == after.rank:
            raise _refused(after, "rank", f"is {after.rank}, and so it is in {before.path.name}: a duplicate")
    for what in ("world_size", "backend"):
        told = Counter(getattr(shard.said, what) for shard in ordered)
        odd = next((s for s in ordered if getattr(s.said, what) != told.most_common(1)[0][0]), None)
        if odd is not None:
            usual = told.most_common(1)[0][0]
            raise _refused(odd, what, f"is {getattr(odd.said, what)!r} but {usual!r} on other ranks")
    _check_groups(ordered)
    _check_complete(ordered)
    return ordered


def _check_groups(shards: Sequence[Shard]) -> None:
    """Two members of one group must list the same ranks for it."""
    of_rank = {shard.rank: shard for shard in shards}
    members: dict[int, set[tuple[str, tuple[int, ...]]]] = {
        shard.rank: {(group.name, group.ranks) for group in shard.said.groups} for shard in shards
    }
    for shard in shards:
        for number, group in enumerate(shard.said.groups):
            for rank in group.ranks:
                theirs = members.get(rank)
                if theirs is None or (group.name, group.ranks) in theirs:
                    continue
                same_name = (ranks for name, ranks in sorted(theirs) if name == group.name and shard.rank in ranks)
                other = next(same_name, None)
                if other is not None:
                    raise _refused(
                        shard,
                        f"groups[{number}].ranks",
                        f"are {list(group.ranks)[:8]} for process group {group.name!r} but {list(other)[:8]} "
                        f"in {of_rank[rank].path.name}",
                    )


def _check_complete(shards: Sequence[Shard]) -> None:
    here = {shard.rank for shard in shards}
    world = shards[0].said.world_size
    wanted = set(range(world)) if world > 0 else {r for s in shards for group in s.said.groups for r in group.ranks}
    if here - wanted:
        odd = next(shard for shard in shards if shard.rank not in wanted)
        raise _refused(odd, "rank", f"is {odd.rank} in a world of {world}")
    missing = sorted(wanted - here)
    if missing:
        shown = ", ".join(map(str, missing[:8])) + (", ..." if len(missing) > 8 else "")
        raise IntegrityRefusal(
            "shards",
            f"{len(missing)} of {len(wanted)} ranks wrote none: {shown}",
            "let every rank end by itself (no os._exit or kill before destroy_process_group), and write the trace to "
            "a folder that all hosts share",
        )


def _refused(shard: Shard, place: str, found: str) -> IntegrityRefusal:
    return IntegrityRefusal(place, found, AGAIN, file=shard.path.name)
