"""The calls of several ranks matched into logical collectives, by invocation order within each group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from commcanary.artifacts.events import UNKNOWN
from commcanary.errors import InputRefusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from commcanary.artifacts.events import ProcessGroup, Signature
    from commcanary.sources.calls.rank_calls import RankCalls

    Ints = NDArray[np.int64]

_UNEVEN = frozenset({"all_to_all", "gather", "scatter"})
"""Operations whose sizes may differ from rank to rank."""

_UNEVEN_SHARES = frozenset({"all_gather", "reduce_scatter"})
"""Operations whose shares may differ from rank to rank, while the whole is the same."""


@dataclass(frozen=True)
class Matched:
    """The events of one process group. ``calls[m, i]`` is the place of event i among rank ``present[m]``'s calls.

    ``present`` are positions in the list of profiled ranks, in the order of the group's members.
    """

    group: ProcessGroup
    present: tuple[int, ...]
    calls: Ints

    @property
    def complete(self) -> bool:
        """Whether every member of the group was profiled."""
        return len(self.present) == self.group.size

    def __len__(self) -> int:
        return int(self.calls.shape[1])


def check_same_job(ranks: Sequence[RankCalls]) -> None:
    """Raise ``InputRefusal`` for two profiles of one rank or profiles of different jobs."""
    seen: dict[int, RankCalls] = {}
    for calls in ranks:
        job = calls.job
        if job.rank in seen:
            raise InputRefusal(
                calls.places.rank,
                f"is {job.rank} in {seen[job.rank].name} as well",
                "give one file per rank",
                file=calls.name,
            )
        seen[job.rank] = calls
    first = ranks[0]
    for calls in ranks[1:]:
        for what in ("world", "backend"):
            one, other = getattr(first.job, what), getattr(calls.job, what)
            if one != other:
                raise InputRefusal(
                    getattr(calls.places, what),
                    f"is {other!r} but {one!r} in {first.name}",
                    "give profiles of one job",
                    file=calls.name,
                )
        for group in calls.job.groups:
            theirs = first.job.group(group.name)
            if theirs is not None and theirs.ranks and group.ranks and theirs.ranks != group.ranks:
                raise InputRefusal(
                    calls.places.groups,
                    f"lists {list(group.ranks)[:8]} for process group {group.name!r} but {first.name} "
                    f"lists {list(theirs.ranks)[:8]}",
                    "give profiles of one job",
                    file=calls.name,
                )


def matched(ranks: Sequence[RankCalls], partial: bool = False) -> list[Matched]:
    """The groups' events.

    With several profiles every member of every group must be among them, unless ``partial`` ones are welcome.
    Raises ``InputRefusal`` naming the ranks that are missing, or the first call at which two ranks of a group
    diverge.
    """
    positions = {calls.job.rank: position for position, calls in enumerate(ranks)}
    programs: dict[tuple[ProcessGroup, bool], dict[int, Ints]] = {}
    for position, calls in enumerate(ranks):
        numbers: dict[tuple[ProcessGroup, bool], list[int]] = {}
        for number, (group, signature) in enumerate(calls.keys):
            # messages run beside collectives, so their order among those is nobody's promise
            numbers.setdefault((group, signature.op == "point_to_point"), []).append(number)
        for program, mine in numbers.items():
            chosen = np.flatnonzero(np.isin(np.arange(len(calls.keys)), mine)[calls.key])
            if len(chosen):
                programs.setdefault(program, {})[position] = chosen
    result = []
    for (group, _), calls_of in programs.items():
        present = tuple(positions[rank] for rank in group.members if rank in positions)
        missing = [rank for rank in group.members if rank not in positions]
        if missing and len(ranks) > 1 and not partial:
            shown = ", ".join(str(rank) for rank in missing[:8]) + (", ..." if len(missing) > 8 else "")
            raise InputRefusal(
                "",
                f"{len(missing)} of {group.size} ranks of process group {group.name!r} have no profile: {shown}",
                "give the profile of every rank, or of one rank alone",
            )
        _check_equal_programs(group, present, calls_of, ranks)
        result.append(Matched(group, present, np.stack([calls_of[position] for position in present])))
    return result


def _check_equal_programs(
    group: ProcessGroup, present: tuple[int, ...], calls_of: dict[int, Ints], ranks: Sequence[RankCalls]
) -> None:
    first = ranks[present[0]]
    mine = calls_of.get(present[0], np.zeros(0, np.int64))
    for position in present[1:]:
        other = ranks[position]
        theirs = calls_of.get(position, np.zeros(0, np.int64))
        common = min(len(mine), len(theirs))
        differs = _programs_differ(first, mine[:common], other, theirs[:common])
        if not differs.any() and len(mine) == len(theirs):
            continue
        at = int(np.argmax(differs)) if differs.any() else common
        raise InputRefusal(
            f"process group {group.name!r} call {at}",
            f"rank {first.job.rank} {_told(first, mine, at)} but rank {other.job.rank} {_told(other, theirs, at)}"
            f" ({len(mine)} and {len(theirs)} calls)",
            "profile the same steps on every rank",
            file=other.name,
        )


def _programs_differ(one: RankCalls, mine: Ints, other: RankCalls, theirs: Ints) -> NDArray[np.bool_]:
    numbers: dict[Signature, int] = {}

    def program(calls: RankCalls, chosen: Ints) -> Ints:
        codes = [numbers.setdefault(_comparable(s), len(numbers)) for _, s in calls.keys]
        return np.asarray(codes, np.int64)[calls.key[chosen]]

    differs = program(one, mine) != program(other, theirs)
    left, right = one.sequence[mine], other.sequence[theirs]
    point_to_point = np.asarray([s.op == "point_to_point" for _, s in one.keys], np.bool_)[one.key[mine]]
    numbered = ~point_to_point & (left != UNKNOWN) & (right != UNKNOWN)
    result: NDArray[np.bool_] = differs | (numbered & (left != right))
    return result


def _comparable(signature: Signature) -> Signature:
    """What must be equal on all ranks. A reduction operator or root that one rank's profile lacks is no difference."""
    loose = msgspec.structs.replace(signature, reduction_op=None, root_rank=None)
    if signature.op in _UNEVEN:
        return msgspec.structs.replace(loose, bytes=1, in_elements=None, out_elements=None)
    if signature.op in _UNEVEN_SHARES:
        return msgspec.structs.replace(loose, in_elements=None, out_elements=None)
    return loose


def _told(calls: RankCalls, chosen: Ints, at: int) -> str:
    if at >= len(chosen):
        return "has no such call"
    call = chosen[at]
    _, signature = calls.keys[calls.key[call]]
    numbered = "" if calls.sequence[call] == UNKNOWN else f" Seq {calls.sequence[call]}"
    return f"calls {signature.op} of {signature.bytes} bytes{numbered} ({calls.places.calls}[{calls.event[call]}])"
