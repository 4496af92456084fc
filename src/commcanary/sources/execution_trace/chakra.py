"""Chakra traces: communication nodes -> calls.

A trace of a GPU job has each collective several times: the operators on the host, and the kernel. Only the kernel says
operation and size, and is counted; the operators are its wrappers. A size is the bytes that one rank puts in.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from commcanary.artifacts.events import STANDARD_OPS, ProcessGroup, Signature
from commcanary.errors import InputRefusal
from commcanary.sources.calls.call import MAX_BYTES, Call, Fate
from commcanary.sources.calls.job import Job

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commcanary.sources.execution_trace.nodes import Node
    from commcanary.sources.execution_trace.settings import ExecutionTraceSettings

RULE = "Chakra communication node"
SEND, RECV, COLLECTIVE = 5, 6, 7
OPERATIONS = (
    "all_reduce",
    "reduce",
    "all_gather",
    "gather",
    "scatter",
    "broadcast",
    "all_to_all",
    "reduce_scatter",
    "reduce_scatter",
    "barrier",
)
"""By ``CollectiveCommType``; the last but one is reduce_scatter_block."""

_NUMBERED = re.compile(r"\.(\d{1,9})\.[A-Za-z]+(?:\.gz)?\Z")


def rank_in_name(name: str) -> int | None:
    """The rank that the file's name states: Chakra's files are called ``name.RANK.et``."""
    match = _NUMBERED.search(name)
    return None if match is None else int(match[1])


def chakra_calls(
    nodes: Sequence[Node], job: Job, default: ProcessGroup | None, settings: ExecutionTraceSettings
) -> list[tuple[int, Call]]:
    """Each communication node's place in ``nodes`` and what becomes of it; ``default`` is the group of all ranks.

    Raises ``InputRefusal`` at the first call that cannot be read for certain, unless ``on_error`` is skip.
    """
    communicating = [(i, node) for i, node in enumerate(nodes) if node.kind in (SEND, RECV, COLLECTIVE)]
    on_device = any(_is_sized(node) and node.attributes.get("is_cpu_op") is False for _, node in communicating)
    calls = []
    for index, node in communicating:
        try:
            call = _call(node, f"node {node.number}", job, default, settings, on_device)
        except InputRefusal as refusal:
            if settings.on_error == "stop":
                raise
            call = Call(Fate.REFUSED, RULE, refusal.found)
        calls.append((index, call))
    return calls


def _is_sized(node: Node) -> bool:
    return _number(node.attributes.get("comm_size")) is not None


def _call(
    node: Node,
    place: str,
    job: Job,
    default: ProcessGroup | None,
    settings: ExecutionTraceSettings,
    on_device: bool,
) -> Call:
    if on_device and node.attributes.get("is_cpu_op") is True:
        return Call(Fate.CONTROL, RULE, "operator on the host: the kernel that it launched is counted")
    if node.kind == COLLECTIVE:
        kind = _number(node.attributes.get("comm_type"))
        if kind is not None and not 0 <= kind < len(OPERATIONS):
            raise InputRefusal(f"{place}.comm_type", f"is {kind}", f"known are 0 to {len(OPERATIONS) - 1}")
        if kind is not None and OPERATIONS[kind] == "barrier":
            return Call(Fate.CONTROL, RULE, "barrier")
    size = _number(node.attributes.get("comm_size"))
    if size is None or (node.kind == COLLECTIVE and kind is None):
        missing = "comm_size" if size is None else "comm_type"
        if node.attributes.get("is_cpu_op") is True:
            return Call(Fate.CONTROL, RULE, f"operator on the host without {missing}")
        raise InputRefusal(
            f"{place}.{missing}",
            f"is missing on {node.name[:40]!r}",
            "convert the trace with a newer Chakra, or leave the call out with --on-error skip",
        )
    if size < 0:
        raise InputRefusal(f"{place}.comm_size", f"is {size}", "a size is 0 bytes or more; convert the trace again")
    group = _group(node, place, default, settings)
    labels = ("default",) if group is default else (group.name,)
    if settings.process_group is not None and settings.process_group not in labels:
        return Call(Fate.OTHER_GROUP, RULE, f"not on process group {settings.process_group}")
    if size == 0:
        return Call(Fate.EMPTY, RULE, "no bytes")
    if job.rank not in group.members:
        found = f"rank {job.rank} calls on the group {list(group.members)[:8]}, of which it is no member"
        raise InputRefusal(place, found, "check the file's rank")
    if node.kind != COLLECTIVE:
        return _message(node, place, size, group, job)
    assert kind is not None  # checked above
    op = OPERATIONS[kind]
    size *= group.size if op in ("all_gather", "gather") else 1
    if size > MAX_BYTES:
        raise InputRefusal(f"{place}.comm_size", f"makes {size} bytes", "bytes are below 2^63; convert it again")
    return Call(Fate.TAKEN, RULE, "", group, Signature(op=op, bytes=size, custom_op=op not in STANDARD_OPS))


def _message(node: Node, place: str, size: int, group: ProcessGroup, job: Job) -> Call:
    sends = node.kind == SEND
    peer = _number(node.attributes.get("comm_dst" if sends else "comm_src"))
    if peer is None or peer not in group.members or peer == job.rank:
        name = "comm_dst" if sends else "comm_src"
        raise InputRefusal(f"{place}.{name}", f"is {peer} for rank {job.rank}", "name another rank of the group")
    sender, receiver = (job.rank, peer) if sends else (peer, job.rank)
    tag = node.attributes.get("comm_tag")
    signature = Signature(
        op="point_to_point",
        bytes=size,
        sender_rank=sender,
        receiver_rank=receiver,
        tag=None if tag in (None, "") else str(tag),
    )
    return Call(Fate.TAKEN, RULE, "", ProcessGroup.of(group.name, (sender, receiver)), signature, receives=not sends)


def _group(node: Node, place: str, default: ProcessGroup | None, settings: ExecutionTraceSettings) -> ProcessGroup:
    named = node.attributes.get("pg_name")
    if named in (None, ""):
        if default is None:
            raise InputRefusal(
                f"{place}.pg_name",
                "is missing, so the process group is unknown",
                "give the traces of all ranks, or declare --assume-default-group with --world-size",
            )
        return default
    ranks = settings.groups.get(str(named))
    if ranks is None:
        raise InputRefusal(
            f"{place}.pg_name",
            f"is {named!r}, whose ranks no file lists",
            "list them with --groups FILE, a JSON object of names and lists of ranks",
        )
    return ProcessGroup.of(str(named), ranks)


def _number(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.removeprefix("-").isdigit() and len(value) < 20:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
