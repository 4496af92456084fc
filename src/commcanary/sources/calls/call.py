"""One communication call of one rank, read out of whatever the profile has: a record, an operator."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from commcanary.artifacts.events import STANDARD_OPS, ProcessGroup, Signature
from commcanary.errors import InputRefusal
from commcanary.sources.calls.dtypes import dtype_of, element_bytes

if TYPE_CHECKING:
    from commcanary.sources.calls.job import Job

MAX_BYTES = 2**63 - 1


class Fate(StrEnum):
    """What becomes of a call."""

    TAKEN = "taken"
    CONTROL = "control"
    EMPTY = "empty"
    OTHER_GROUP = "other group"
    OUTSIDE = "outside"
    REFUSED = "refused"


@dataclass(frozen=True)
class Call:
    """Fate of a call and, where taken, its group and signature (phase and group number still open).

    ``rule`` says how it was read. ``receives`` is True for the receiving end of a point-to-point call.
    """

    fate: Fate
    rule: str
    reason: str = ""
    group: ProcessGroup | None = None
    signature: Signature | None = None
    receives: bool = False


@dataclass(frozen=True)
class Sizes:
    """Elements that a rank puts in and gets out, and their type as the profiler spells it."""

    in_elements: int
    out_elements: int
    dtype: str


def completed_sizes(op: str, given: Sizes, members: int, both: bool) -> Sizes:
    """``given`` with the side filled in that the operation and the group's size imply.

    ``both`` says that both sides were given. An all-gather puts one share in and gets ``members`` out, a
    reduce-scatter the other way round; other operations get out what they put in.
    """
    if both:
        return given
    if op == "all_gather":
        return Sizes(given.in_elements, given.in_elements * members, given.dtype)
    if op == "reduce_scatter":
        return Sizes(given.out_elements * members, given.out_elements, given.dtype)
    return given


def taken_call(
    op: str,
    sizes: Sizes,
    group: ProcessGroup,
    job: Job,
    rule: str,
    place: str,
    *,
    peer: int | None = None,
    root: int | None = None,
) -> Call:
    """The call of ``op`` on ``group``; bytes are those of the larger side, as nccl-tests counts.

    ``peer`` and ``root`` are global ranks. Raises ``InputRefusal`` for an unknown element type, a call of
    a rank outside the group, or a point-to-point call without a peer.
    """
    if job.rank not in group.members:
        raise InputRefusal(
            f"{place}.Process Group Ranks",
            f"rank {job.rank} calls on the group {list(group.members)[:8]}, of which it is no member",
            "check that the profile's rank is right",
        )
    elements = max(sizes.in_elements, sizes.out_elements)
    if elements == 0:
        return Call(Fate.EMPTY, rule, "no elements")
    dtype = dtype_of(sizes.dtype)
    if dtype is None:
        raise InputRefusal(
            f"{place}.dtype", f"is {sizes.dtype!r}, whose size is unknown", "skip the call with --on-error skip"
        )
    size = elements * element_bytes(dtype)
    if size > MAX_BYTES:
        raise InputRefusal(f"{place}", f"moves {size} bytes", "bytes are below 2^63; check the record")
    if op in ("send", "recv"):
        return _end_of_message(op, sizes, dtype, size, group, job, rule, place, peer)
    return Call(
        Fate.TAKEN,
        rule,
        "",
        group,
        Signature(
            op=op,
            bytes=size,
            group=0,
            phase="",
            custom_op=op not in STANDARD_OPS,
            dtype=dtype,
            root_rank=root,
            in_elements=sizes.in_elements,
            out_elements=sizes.out_elements,
        ),
    )


def _end_of_message(
    op: str,
    sizes: Sizes,
    dtype: str,
    size: int,
    group: ProcessGroup,
    job: Job,
    rule: str,
    place: str,
    peer: int | None,
) -> Call:
    if peer is None:
        raise InputRefusal(f"{place}", f"a {op} that does not say its peer", "skip the call with --on-error skip")
    if peer not in group.members or peer == job.rank:
        raise InputRefusal(
            f"{place}",
            f"a {op} of rank {job.rank} with peer {peer} on the group {list(group.members)[:8]}",
            "check that the profile's rank is right",
        )
    sender, receiver = (job.rank, peer) if op == "send" else (peer, job.rank)
    return Call(
        Fate.TAKEN,
        rule,
        "",
        ProcessGroup.of(group.name, (sender, receiver)),
        Signature(
            op="point_to_point",
            bytes=size,
            group=0,
            phase="",
            sender_rank=sender,
            receiver_rank=receiver,
            dtype=dtype,
            in_elements=sizes.in_elements,
            out_elements=sizes.out_elements,
        ),
        receives=op == "recv",
    )
