"""``record_param_comms`` records that name their collective -> calls.

Only the presence of fields decides, never a version: nightlies had fields added, taken back and re-added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commcanary.artifacts.events import ROOTED, ProcessGroup
from commcanary.errors import InputRefusal
from commcanary.sources.calls.call import Call, Fate, Sizes, taken_call
from commcanary.sources.calls.job import listed_ranks
from commcanary.sources.kineto.operations import CONTROL, recorded_operation

if TYPE_CHECKING:
    from commcanary.sources.calls.job import Job
    from commcanary.sources.kineto.rank_profile import RecordShape

RULE = "record_param_comms"
KERNEL_RULE = "kernel with a record's fields"
UNNAMED_GROUP = "default"


def call_of_record(shape: RecordShape, job: Job, wanted_group: str | None, place: str) -> Call:
    """The call behind a named record at ``place``; raises ``InputRefusal`` where a field is not usable.

    ``wanted_group`` is the process group (name or description) that the user asked for, or None.
    """
    if not isinstance(shape.collective, str) or not shape.collective.strip():
        raise InputRefusal(
            f"{place}.args.Collective name", f"is {shape.collective!r}", "it is the name of a collective"
        )
    op = recorded_operation(shape.collective)
    rule = KERNEL_RULE if shape.on_kernel else RULE
    if op == CONTROL:
        return Call(Fate.CONTROL, rule, f"{shape.collective}")
    if wanted_group is not None and wanted_group not in group_labels(shape, job):
        return Call(Fate.OTHER_GROUP, rule, f"not on process group {wanted_group}")
    sizes = Sizes(
        _count(shape.in_elements, f"{place}.args.In msg nelems"),
        _count(shape.out_elements, f"{place}.args.Out msg nelems"),
        str(shape.dtype),
    )
    if sizes.in_elements == sizes.out_elements == 0:
        return Call(Fate.EMPTY, rule, "no elements")
    group = group_of_record(shape, job, place)
    peer = _peer(op, shape, group, place) if op in ("send", "recv") else None
    root = _root(shape, group, job) if op in ROOTED else None
    return taken_call(op, sizes, group, job, rule, f"{place}.args", peer=peer, root=root)


def group_labels(shape: RecordShape, job: Job) -> tuple[str, ...]:
    """Name and description by which a user may ask for the record's group."""
    name = UNNAMED_GROUP if shape.group_name is None else str(shape.group_name)
    known = job.group(name)
    described = shape.group_description if known is None else known.description
    return (name,) if not described else (name, str(described))


def group_of_record(shape: RecordShape, job: Job, place: str) -> ProcessGroup:
    """The process group of a named record.

    Its ranks are listed in the record, or implied by start and stride, or listed in ``pg_config`` under the
    group's name, or - in a group of one - the caller's own. Where several say so they must agree; where
    none does (``"[]"``, a list with ``...``), the ranks are unknown and the record is refused.
    """
    if not isinstance(shape.group_name, (str, int, type(None))) or isinstance(shape.group_name, bool):
        raise InputRefusal(f"{place}.args.Process Group Name", f"is {shape.group_name!r}", "it is a name or a number")
    name = None if shape.group_name is None else str(shape.group_name)
    size = _size(shape.group_size, f"{place}.args.Group size")
    said: dict[str, tuple[int, ...]] = {}
    listed = listed_ranks(shape.group_ranks, f"{place}.args.Process Group Ranks")
    if listed is not None:
        said["Process Group Ranks"] = listed
    spaced = _spaced(shape, size)
    if spaced is not None:
        said["Global rank start and stride"] = spaced
    known = None if name is None else job.group(name)
    if known is not None and known.ranks is not None:
        said["distributedInfo.pg_config"] = known.ranks
    if not said and size == 1:
        said["the caller itself"] = (job.rank,)
    if not said:
        raise InputRefusal(
            f"{place}.args.Process Group Ranks",
            f"is {shape.group_ranks!r} for process group {name!r} of {size} ranks, and pg_config does not list "
            "them; an unlisted group is not the world",
            "export with distributedInfo, or leave the call out with --on-error skip",
        )
    (source, ranks), *others = said.items()
    for other, theirs in others:
        if theirs != ranks:
            raise InputRefusal(
                f"{place}.args.{source}",
                f"gives {list(ranks)[:8]} for process group {name!r} but {other} gives {list(theirs)[:8]}",
                "export the profile again",
            )
    if size is not None and len(ranks) != size:
        raise InputRefusal(
            f"{place}.args.Group size",
            f"is {size} but {source} gives {len(ranks)} ranks",
            "export the profile again",
        )
    return ProcessGroup.of(UNNAMED_GROUP if name is None else name, ranks)


def _spaced(shape: RecordShape, size: int | None) -> tuple[int, ...] | None:
    first, stride = shape.first_rank, shape.rank_stride
    if size is None or not _is_count(first) or not _is_count(stride) or stride == 0:
        return None
    return tuple(range(first, first + size * stride, stride))


def _peer(op: str, shape: RecordShape, group: ProcessGroup, place: str) -> int | None:
    """Global rank of the other end: stated, else the record's ``Rank``, which is the peer's in the group."""
    stated = shape.destination_rank if op == "send" else shape.source_rank
    if _is_count(stated):
        return int(stated)
    number = shape.rank_in_group
    if _is_count(number):
        if number >= group.size:
            raise InputRefusal(
                f"{place}.args.Rank", f"is {number} in a group of {group.size}", "export the profile again"
            )
        return int(group.members[number])
    return None


def _root(shape: RecordShape, group: ProcessGroup, job: Job) -> int | None:
    """Global rank of the root, where ``Rank`` can be nothing else.

    NCCL's backend writes the root's place in the group into ``Rank`` of a rooted collective, others write the
    caller's own: a number that is the caller's says nothing. Another rank's profile then may.
    """
    number = shape.rank_in_group
    if not _is_count(number) or number >= group.size or group.members[number] == job.rank:
        return None
    return int(group.members[number])


def _count(value: Any, place: str) -> int:
    if not _is_count(value):
        raise InputRefusal(
            place,
            "is missing" if value is None else f"is {value!r}",
            "it is a whole number of elements from 0 on; export the profile again",
        )
    return int(value)


def _size(value: Any, place: str) -> int | None:
    if value is None:
        return None
    if not _is_count(value) or value == 0 or value > 10**7:
        raise InputRefusal(place, f"is {value!r}", "a group has one rank or more")
    return int(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
