"""Calls that no record names: ``c10d::`` operators alone (gloo, MPI) and records of profiles before 2023.

They state neither their process group nor, often, their element type. Both are taken from elsewhere only
where one answer is left; else the call is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from commcanary.artifacts.events import ProcessGroup
from commcanary.errors import InputRefusal
from commcanary.sources.calls.call import Call, Fate, Sizes, completed_sizes, taken_call
from commcanary.sources.kineto.operations import CONTROL

if TYPE_CHECKING:
    from commcanary.sources.calls.job import Job
    from commcanary.sources.kineto.operators import HostCall

OPERATOR_RULE = "c10d operator"
DERIVED_RULE = "record_param_comms, derived"


@dataclass(frozen=True)
class GroupRule:
    """How calls that name no group get one: what the user declared, and what the profile shows.

    ``communicators`` is the number of streams that communication kernels ran on; 0 where there are none.
    """

    wanted: str | None
    assume_default: bool
    communicators: int


def call_of_host(host: HostCall, dtype: str | None, job: Job, groups: GroupRule, rule: str, place: str) -> Call:
    """The call that ``host`` describes; ``dtype`` is its element type as the profiler spells it.

    Raises ``InputRefusal`` where shapes, type or group are not known for certain.
    """
    if host.op == CONTROL:
        return Call(Fate.CONTROL, rule, "barrier")
    group, labels = group_of_unnamed(host, job, groups, place)
    if groups.wanted is not None and groups.wanted not in labels:
        return Call(Fate.OTHER_GROUP, rule, f"not on process group {groups.wanted}")
    given, got = host.in_elements, host.out_elements
    if given is None and got is None:
        raise InputRefusal(
            f"{place}.args.Input Dims",
            f"does not give the size of this {host.op}",
            "profile with record_shapes=True, or leave the call out with --on-error skip",
        )
    if dtype is None:
        raise InputRefusal(
            f"{place}.args.Input type",
            f"does not give the element type of this {host.op}, nor does one annotation",
            "profile with record_shapes=True, or leave the call out with --on-error skip",
        )
    either = given if given is not None else got
    assert either is not None
    sizes = Sizes(either if given is None else given, either if got is None else got, dtype)
    members = group.members
    sizes = completed_sizes(host.op, sizes, len(members), given is not None and got is not None)
    for name, number in (("root", host.root), ("peer", host.peer)):
        if number is not None and number >= len(members):
            raise InputRefusal(
                f"{place}.args.Concrete Inputs",
                f"names {name} {number} in a group of {len(members)} ranks",
                "check the profile's process groups",
            )
    return taken_call(
        host.op,
        sizes,
        group,
        job,
        rule,
        place,
        peer=None if host.peer is None else members[host.peer],
        root=None if host.root is None else members[host.root],
    )


def group_of_unnamed(host: HostCall, job: Job, groups: GroupRule, place: str) -> tuple[ProcessGroup, tuple[str, ...]]:
    """Process group of a call that names none, and its name and description.

    Certain: the only listed group that the call fits (peer and root exist, an all-gather grows by the
    group's size). Declared: the default group, under ``--assume-default-group``. Derived: the default
    group where the profile lists no groups and all its communication kernels ran on one stream, that is,
    on one communicator. Else unknown, and refused.
    """
    known = [g for g in job.groups if g.ranks is not None and job.rank in g.ranks]
    listed_all = len(known) == len(job.groups)
    fitting = [g for g in known if g.ranks is not None and _fits(host, len(g.ranks))]
    if len(fitting) == 1 and listed_all and fitting[0].ranks is not None:
        only = fitting[0]
        return ProcessGroup.of(only.name, only.ranks or ()), (only.name, only.description)
    default = job.default_group
    derivable = not job.groups and groups.communicators == 1
    if default is not None and (groups.assume_default or derivable):
        if not _fits(host, default.size):
            raise InputRefusal(
                place,
                f"this {host.op} does not fit the default group of {default.size} ranks",
                "leave the call out with --on-error skip",
            )
        described = next((g.description for g in job.groups if g.name == default.name), default.name)
        return default, (default.name, described)
    if job.groups:
        names = ", ".join(f"{g.name!r} of {g.size} ranks" for g in fitting or known)
        found = f"this {host.op} names no process group and could run on {names or 'none that is listed'}"
    elif groups.communicators > 1:
        found = f"no process group is named or listed, and kernels ran on {groups.communicators} communicators"
    else:
        found = "no process group is named or listed"
    raise InputRefusal(place, found, "declare --assume-default-group if all such calls ran on the default group")


def _fits(host: HostCall, size: int) -> bool:
    if (host.peer is not None and host.peer >= size) or (host.root is not None and host.root >= size):
        return False
    if host.op in ("send", "recv") and size < 2:
        return False
    given, got = host.in_elements, host.out_elements
    if given is None or got is None:
        return True
    if host.op == "all_gather":
        return got == given * size
    return got * size == given if host.op == "reduce_scatter" else True
