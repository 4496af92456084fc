"""One event of the exchange JSON as it stands in the file."""

from __future__ import annotations

from sys import intern
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from commcanary.artifacts.events import UNKNOWN, ProcessGroup, Signature
from commcanary.artifacts.trace_checks import MAX_INTEGER, MAX_RANKS, group_fault
from commcanary.errors import InputRefusal

PerRank = dict[str, float] | list[float]

DEFAULT_PRESSURE = 0.5
AGREE_NS = 1
"""Two statements of one time may differ by this much: each was rounded."""


class Row(msgspec.Struct):
    """An event as it stands in the file. UNSET is "left out", None is "unknown"."""

    op: str
    bytes: int
    ranks: int | list[int]
    id: str | int | None = None
    rank_count: int | None = None
    phase: str = "unknown"
    group: str = "default"
    start_us: float | None = None
    gap_us: float | None = None
    rank_arrival_us: PerRank | UnsetType | None = UNSET
    arrival_skew_us: float | UnsetType | None = UNSET
    arrival_skew_unknown: bool = False
    compute_before_us: float | None = None
    rank_compute_before_us: PerRank | None = None
    compute_overlap_us: float | UnsetType | None = UNSET
    compute_overlap_unknown: bool = False
    compute_fields_uncertain: bool = False
    compute_pressure: float = DEFAULT_PRESSURE
    concurrent_groups: int = 1
    observed_exposed_us: float | None = None
    sender_rank: int | None = None
    receiver_rank: int | None = None
    message_sequence: int | None = None
    tag: str | None = None
    channel: str | None = None
    custom_op: bool = False
    dtype: str | None = None
    root_rank: int | None = None
    reduction_op: str | None = None
    in_elements: int | None = None
    out_elements: int | None = None
    consumed_by: str | int | None = None
    metadata: dict[str, Any] | None = None


_LONG_ROW_BYTES = 2 * MAX_RANKS
"""A shorter row names no more ranks, and gives no more times, than a group may have."""
_OPENING = (b"[", b"{", b'"')


def check_lengths(text: bytes, place: str) -> None:
    """Raise ``InputRefusal`` where a row lists more ranks or times than any group has, before they are decoded.

    ``text`` is valid JSON; what is no object, or holds no plain list there, is left to the decoder.
    """
    if len(text) < _LONG_ROW_BYTES or text[:1] != b"{":
        return
    fields = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    ranks = _listed(fields.get("ranks"))
    if ranks > MAX_RANKS:
        raise InputRefusal(f"{place}.ranks", f"names {ranks} ranks", f"a group has at most {MAX_RANKS}")
    for name in ("rank_arrival_us", "rank_compute_before_us"):
        times = _listed(fields.get(name))
        if times > MAX_RANKS:
            raise InputRefusal(
                f"{place}.{name}",
                f"has {times} times for {ranks or bytes(fields.get('ranks', b'0')).decode()} ranks",
                "give exactly one time per rank",
            )


def _listed(value: msgspec.Raw | None) -> int:
    """Elements of a list of numbers, or of an object of them with plain keys; 0 for anything else."""
    text = b"" if value is None else bytes(value)
    if text[:1] == b"[" and not any(sign in text[1:] for sign in _OPENING):
        return text.count(b",") + 1
    if text[:1] == b"{" and b"\\" not in text and 2 * text.count(b":") == text.count(b'"'):
        return text.count(b":")
    return 0


def sequence_of(row: Row, index: int) -> int:
    """The message sequence of a row, ``UNKNOWN`` where it has none."""
    if row.message_sequence is None:
        return UNKNOWN
    if not 0 <= row.message_sequence <= MAX_INTEGER:
        raise InputRefusal(
            f"events[{index}].message_sequence", f"is {row.message_sequence}", "give 0 or more, below 2^63"
        )
    return row.message_sequence


def group_named(name: str, ranks: int | tuple[int, ...], place: str) -> ProcessGroup:
    """The process group ``name`` of ``ranks``; raises ``InputRefusal`` at ``place`` where there can be none."""
    fault = group_fault(ProcessGroup(name, ranks))
    if fault:
        raise InputRefusal(place, *fault)
    return ProcessGroup(name, ranks) if isinstance(ranks, int) else ProcessGroup.of(name, ranks)


def check_rank_count(row: Row, group: ProcessGroup, index: int) -> None:
    """Raise ``InputRefusal`` where the stated number of ranks is another than that of the list."""
    if row.rank_count is not None and row.rank_count != group.size:
        raise InputRefusal(
            f"events[{index}].rank_count", f"is {row.rank_count} but ranks names {group.size}", "make them agree"
        )


def signature_of(row: Row, group: int) -> Signature:
    """All of a row but its timing, on group number ``group``."""
    return Signature(
        op=intern(row.op),  # decoded, each row has a text of its own
        bytes=row.bytes,
        group=group,
        phase=intern(row.phase),
        sender_rank=row.sender_rank,
        receiver_rank=row.receiver_rank,
        tag=row.tag,
        channel=row.channel,
        concurrent_groups=row.concurrent_groups,
        custom_op=row.custom_op,
        dtype=row.dtype,
        root_rank=row.root_rank,
        reduction_op=row.reduction_op,
        in_elements=row.in_elements,
        out_elements=row.out_elements,
    )
