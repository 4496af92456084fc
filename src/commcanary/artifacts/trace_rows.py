"""Rows of the exchange JSON read into columns, with every time rounded to whole ns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType

from commcanary.artifacts.canonical import canonical_json
from commcanary.artifacts.events import UNKNOWN, Events, ProcessGroup, Ragged, Signature
from commcanary.artifacts.trace_checks import MAX_INTEGER, check_arrivals_fit, group_fault
from commcanary.artifacts.trace_ids import used_twice
from commcanary.errors import InputRefusal
from commcanary.units import MAX_TIME_US, NS_PER_US

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


PerRank = dict[str, float] | list[float]

DEFAULT_PRESSURE = 0.5
AGREE_NS = 1


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


class RowReader:
    """Rows turned into columns; counts what rounding to whole ns changed."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self.rounded = 0
        self.largest_rounding_ns = 0.0

    def ns(self, us: float, place: str) -> int:
        """Whole ns of ``us``; raises ``InputRefusal`` outside 0 ... 1e12 us."""
        if not 0 <= us <= MAX_TIME_US:
            raise InputRefusal(place, f"is {us}", f"give 0 to {MAX_TIME_US:.0f} us")
        exact = us * NS_PER_US
        ns = round(exact)
        if ns / NS_PER_US != us:
            self.rounded += 1
            self.largest_rounding_ns = max(self.largest_rounding_ns, abs(exact - ns))
        return ns

    def columns(
        self, order: Sequence[int], gap_ns: Sequence[int]
    ) -> tuple[Events, NDArray[np.int64], tuple[str | None, ...], tuple[str | None, ...]]:
        """Events, starts, ids and metadata of the rows in ``order``; ``gap_ns`` is in that order."""
        groups: dict[ProcessGroup, int] = {}
        stated: dict[tuple[str, int | tuple[int, ...]], ProcessGroup] = {}
        arrivals = 0
        signatures: dict[Signature, int] = {}
        numbers: list[int] = []
        offsets: list[list[int] | None] = []
        rank_before: list[list[int] | None] = []
        for index in order:
            row = self.rows[index]
            name = (row.group, row.ranks if isinstance(row.ranks, int) else tuple(row.ranks))
            if name not in stated:
                stated[name] = _group(*name, f"events[{index}].ranks")
            group = stated[name]
            _check_rank_count(row, group, index)
            arrivals += group.size
            check_arrivals_fit(arrivals, f"events[{index}].ranks")
            numbers.append(
                signatures.setdefault(_signature(row, groups.setdefault(group, len(groups))), len(signatures))
            )
            offsets.append(self._offsets(row, group, index))
            rank_before.append(self._per_rank(row.rank_compute_before_us, group, index, "rank_compute_before_us"))
        rows = [self.rows[index] for index in order]
        ids = tuple(None if row.id is None else str(row.id) for row in rows)
        events = Events(
            groups=tuple(groups),
            signatures=tuple(signatures),
            signature=np.asarray(numbers, np.int32),
            gap_ns=np.asarray(gap_ns, np.int64),
            offsets_ns=Ragged.of(offsets),
            compute_before_ns=self._times(order, "compute_before_us"),
            rank_compute_before_ns=Ragged.of(rank_before),
            compute_overlap_ns=np.asarray([self._overlap(self.rows[i], i) for i in order], np.int64),
            compute_pressure=np.asarray([row.compute_pressure for row in rows], np.float64),
            observed_exposed_ns=self._times(order, "observed_exposed_us"),
            message_sequence=np.asarray([self._sequence(self.rows[i], i) for i in order], np.int64),
            consumer=_consumers(rows, ids),
            compute_uncertain=np.asarray([row.compute_fields_uncertain for row in rows], np.bool_),
        )
        metadata = tuple(None if row.metadata is None else canonical_json(row.metadata).decode() for row in rows)
        return events, self._times(order, "start_us"), ids, metadata

    def _times(self, order: Sequence[int], name: str) -> NDArray[np.int64]:
        given = [(index, getattr(self.rows[index], name)) for index in order]
        return np.asarray([UNKNOWN if us is None else self.ns(us, f"events[{i}].{name}") for i, us in given], np.int64)

    def _overlap(self, row: Row, index: int) -> int:
        if row.compute_overlap_unknown or row.compute_overlap_us is None:
            return UNKNOWN
        return (
            0
            if row.compute_overlap_us is UNSET
            else self.ns(row.compute_overlap_us, f"events[{index}].compute_overlap_us")
        )

    def _sequence(self, row: Row, index: int) -> int:
        if row.message_sequence is None:
            return UNKNOWN
        if not 0 <= row.message_sequence <= MAX_INTEGER:
            raise InputRefusal(
                f"events[{index}].message_sequence",
                f"is {row.message_sequence}",
                "give 0 or more, below 2^63",
            )
        return row.message_sequence

    def _offsets(self, row: Row, group: ProcessGroup, index: int) -> list[int] | None:
        place = f"events[{index}].arrival_skew_us"
        if row.arrival_skew_unknown or row.rank_arrival_us is None or row.arrival_skew_us is None:
            return None
        skew = 0 if row.arrival_skew_us is UNSET else self.ns(row.arrival_skew_us, place)
        if row.rank_arrival_us is UNSET:
            if skew and group.size == 1:
                raise InputRefusal(
                    place, f"is {row.arrival_skew_us} on one rank", "one rank cannot arrive apart from itself"
                )
            return [0] * (group.size - 1) + [skew]
        arrivals = self._per_rank(row.rank_arrival_us, group, index, "rank_arrival_us") or []
        earliest = min(arrivals)
        offsets = [arrival - earliest for arrival in arrivals]
        if row.arrival_skew_us is not UNSET and abs(max(offsets) - skew) > AGREE_NS:
            raise InputRefusal(
                place,
                f"is {row.arrival_skew_us} but rank_arrival_us spans {max(offsets) / NS_PER_US} us",
                "give one of them, or make them agree within 0.001 us",
            )
        return offsets

    def _per_rank(self, given: PerRank | None, group: ProcessGroup, index: int, name: str) -> list[int] | None:
        if given is None:
            return None
        place = f"events[{index}].{name}"
        if isinstance(given, dict):
            wanted = [str(rank) for rank in group.members]
            if set(wanted) != given.keys():
                odd = sorted(given.keys() ^ set(wanted))[0]
                raise InputRefusal(
                    place, f"and the event's ranks differ at rank {odd}", "give exactly one time per rank"
                )
            given = [given[rank] for rank in wanted]
        if len(given) != group.size:
            raise InputRefusal(
                place, f"has {len(given)} times for {group.size} ranks", "give exactly one time per rank"
            )
        return [self.ns(us, place) for us in given]


def _group(name: str, ranks: int | tuple[int, ...], place: str) -> ProcessGroup:
    fault = group_fault(ProcessGroup(name, ranks))
    if fault:
        raise InputRefusal(place, *fault)
    return ProcessGroup(name, ranks) if isinstance(ranks, int) else ProcessGroup.of(name, ranks)


def _check_rank_count(row: Row, group: ProcessGroup, index: int) -> None:
    if row.rank_count is not None and row.rank_count != group.size:
        raise InputRefusal(
            f"events[{index}].rank_count", f"is {row.rank_count} but ranks names {group.size}", "make them agree"
        )


def _signature(row: Row, group: int) -> Signature:
    return Signature(
        op=row.op,
        bytes=row.bytes,
        group=group,
        phase=row.phase,
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


def _consumers(rows: Sequence[Row], ids: Sequence[str | None]) -> NDArray[np.int64]:
    consumer = np.full(len(rows), UNKNOWN, np.int64)
    wanted = {str(row.consumed_by) for row in rows if row.consumed_by is not None}
    if not wanted:
        return consumer
    where: dict[str, int] = {}
    for position, name in enumerate(ids):
        if name is None:
            continue
        if name in where and name in wanted:
            raise used_twice(position, name)
        where[name] = position
    for position, row in enumerate(rows):
        if row.consumed_by is not None:
            target = where.get(str(row.consumed_by), UNKNOWN)
            if target <= position:
                raise InputRefusal(
                    f"events[{position}].consumed_by",
                    f"names {row.consumed_by!r}, which is not a later event",
                    "name the id of a later event",
                )
            consumer[position] = target
    return consumer
