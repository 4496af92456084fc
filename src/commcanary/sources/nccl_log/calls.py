"""Lines of calls -> calls, with their sizes, groups, roots and operators."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from commcanary.artifacts.events import REDUCING, ROOTED
from commcanary.errors import InputRefusal
from commcanary.sources.calls.call import Call, Fate, Sizes, taken_call
from commcanary.sources.calls.nccl_operators import REDUCTIONS
from commcanary.sources.nccl_log.operations import DATATYPES, OPERATIONS
from commcanary.sources.nccl_log.processes import name_of

if TYPE_CHECKING:
    from commcanary.artifacts.events import ProcessGroup
    from commcanary.sources.calls.job import Job
    from commcanary.sources.calls.seating import Seating
    from commcanary.sources.nccl_log.log_records import Kind, LogRecords
    from commcanary.sources.nccl_log.processes import Process
    from commcanary.sources.nccl_log.settings import NcclLogSettings

RULE = "NCCL INFO line of a call"


def calls_of(
    log: LogRecords, process: Process, job: Job, seating: Seating, settings: NcclLogSettings
) -> list[tuple[int, Call, int]]:
    """Line, call and time in ns of every call of ``process`` in order.

    Raises ``InputRefusal`` for the first that is not known for certain, unless ``on_error`` is skip.
    """
    kind, line = log.column("kind"), log.column("line")
    calls: list[Call | None] = []
    for number, of in enumerate(log.kinds):
        if not process.calls_on(log.communicators.known[of.communicator]):
            calls.append(None)
            continue
        place = f"line {line[int(np.argmax(kind == number))]}"
        try:
            calls.append(_call(log, of, place, job, seating, settings))
        except InputRefusal as refusal:
            if settings.on_error == "stop":
                raise refusal.in_file(log.name) from refusal.__cause__
            calls.append(Call(Fate.REFUSED, RULE, refusal.found))
    said = (calls[number] for number in log.kind)
    return [(at, call, ns) for at, call, ns in zip(log.line, said, log.time_ns, strict=True) if call is not None]


def own_operators(log: LogRecords, process: Process) -> Counter[int]:
    """Calls that reduce with an operator that the job made, by its number."""
    seen = np.bincount(log.column("kind"), minlength=len(log.kinds)).tolist()
    found: Counter[int] = Counter()
    for kind, count in zip(log.kinds, seen, strict=True):
        operation = OPERATIONS.get(kind.name)
        reduces = operation is not None and operation.op in REDUCING and kind.operator not in REDUCTIONS
        if reduces and process.calls_on(log.communicators.known[kind.communicator]):
            found[kind.operator] += count
    return found


def _call(log: LogRecords, kind: Kind, place: str, job: Job, seating: Seating, settings: NcclLogSettings) -> Call:
    communicator = log.communicators.known[kind.communicator]
    name = name_of(communicator, settings)
    if settings.process_group is not None and settings.process_group != name:
        return Call(Fate.OTHER_GROUP, RULE, f"not on process group {settings.process_group}")
    operation = OPERATIONS.get(kind.name)
    if operation is None:
        raise InputRefusal(place, f"calls {kind.name}, no collective or message", "leave it out with --on-error skip")
    if name is None:
        raise InputRefusal(
            f"{place}.comm",
            f"is {communicator.pointer.decode()}, and no line before says which communicator of {communicator.ranks} "
            "ranks was created there",
            "log with NCCL_DEBUG_SUBSYS=INIT,COLL from the start (NCCL 2.18 on), or declare --assume-default-group",
        )
    if kind.datatype not in DATATYPES:
        raise InputRefusal(
            f"{place}.datatype", f"is {kind.datatype}, whose size is unknown", "leave it out with --on-error skip"
        )
    group = seating.group(name, f"{place}.comm")
    op = operation.op
    # in messages the field is the peer; in operations without a root it is 0 and says nothing
    root = _member(group, kind.root, f"{place}.root") if op in ROOTED or op in ("send", "recv") else None
    if op in ("send", "recv") and root == job.rank:
        return Call(Fate.EMPTY, RULE, "a rank's message to itself")
    into, out = operation.elements(kind.elements, group.size, root == job.rank)
    sizes = Sizes(into, out, DATATYPES[kind.datatype])
    if op in ("send", "recv"):
        return taken_call(op, sizes, group, job, RULE, place, peer=root)
    call = taken_call(op, sizes, group, job, RULE, place, root=root)
    reduction = REDUCTIONS.get(kind.operator)
    if op not in REDUCING or reduction is None or call.signature is None:
        return call
    return Call(
        call.fate, RULE, "", call.group, msgspec.structs.replace(call.signature, reduction_op=reduction), call.receives
    )


def _member(group: ProcessGroup, rank: int, place: str) -> int:
    if not 0 <= rank < group.size:
        raise InputRefusal(place, f"is {rank} on a communicator of {group.size} ranks", "log the job again")
    return group.members[rank]
