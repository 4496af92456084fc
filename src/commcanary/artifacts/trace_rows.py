"""Rows of the exchange JSON read into columns a batch at a time, with every time rounded to whole ns."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from msgspec import UNSET, UnsetType

from commcanary.artifacts.canonical import canonical_json
from commcanary.artifacts.events import UNKNOWN, Events, ProcessGroup, Ragged, Signature
from commcanary.artifacts.trace_checks import check_arrivals_fit
from commcanary.artifacts.trace_ids import used_twice
from commcanary.artifacts.trace_rounding import Rounding
from commcanary.artifacts.trace_row import (
    AGREE_NS,
    PerRank,
    Row,
    check_rank_count,
    group_named,
    sequence_of,
    signature_of,
)
from commcanary.errors import InputRefusal
from commcanary.units import NS_PER_US

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

T = TypeVar("T")

_TIMES = ("start_us", "compute_before_us", "observed_exposed_us")


@dataclass
class Columns:
    """Columns of all rows in the order of the file; ``gap_us`` is NaN where a row gives none."""

    numbers: list[NDArray[np.int32]] = field(default_factory=list)
    gap_us: list[NDArray[np.float64]] = field(default_factory=list)
    times_ns: dict[str, list[NDArray[np.int64]]] = field(default_factory=lambda: {name: [] for name in _TIMES})
    overlap_ns: list[NDArray[np.int64]] = field(default_factory=list)
    offsets_ns: list[Ragged] = field(default_factory=list)
    rank_before_ns: list[Ragged] = field(default_factory=list)
    pressure: list[NDArray[np.float64]] = field(default_factory=list)
    sequence: list[NDArray[np.int64]] = field(default_factory=list)
    uncertain: list[NDArray[np.bool_]] = field(default_factory=list)
    ids: list[str | None] = field(default_factory=list)
    consumed_by: list[str | int | None] = field(default_factory=list)
    metadata: list[str | None] = field(default_factory=list)


class RowReader:
    """Rows turned into columns, batch after batch; ``rounding`` counts all but the gaps."""

    def __init__(self) -> None:
        self.rounding = Rounding()
        self.read = Columns()
        self._groups: dict[ProcessGroup, int] = {}
        self._stated: dict[tuple[str, int | tuple[int, ...]], ProcessGroup] = {}
        self._signatures: dict[Signature, int] = {}
        self._arrivals = 0

    def add(self, rows: Sequence[Row]) -> None:
        """Read the next rows; raises ``InputRefusal`` naming the event and field that no trace may have."""
        first, read = len(self.read.ids), self.read
        groups = [self._group(row, index) for index, row in enumerate(rows, first)]
        number = (
            self._signatures.setdefault(
                signature_of(row, self._groups.setdefault(group, len(self._groups))), len(self._signatures)
            )
            for row, group in zip(rows, groups, strict=True)
        )
        read.numbers.append(np.fromiter(number, np.int32, len(rows)))
        read.gap_us.append(_floats([row.gap_us for row in rows]))
        read.offsets_ns.append(self._offsets(rows, groups, first))
        before = [
            self._listed(row.rank_compute_before_us, group, index, "rank_compute_before_us")
            for index, (row, group) in enumerate(zip(rows, groups, strict=True), first)
        ]
        read.rank_before_ns.append(self._per_rank(before, first, "rank_compute_before_us"))
        for name in _TIMES:
            read.times_ns[name].append(self._times([getattr(row, name) for row in rows], first, name))
        overlap = [
            None if row.compute_overlap_unknown else 0.0 if row.compute_overlap_us is UNSET else row.compute_overlap_us
            for row in rows
        ]
        read.overlap_ns.append(self._times(overlap, first, "compute_overlap_us"))
        read.pressure.append(np.fromiter((row.compute_pressure for row in rows), np.float64, len(rows)))
        sequence = (sequence_of(row, index) for index, row in enumerate(rows, first))
        read.sequence.append(np.fromiter(sequence, np.int64, len(rows)))
        read.uncertain.append(np.fromiter((row.compute_fields_uncertain for row in rows), np.bool_, len(rows)))
        read.ids += [None if row.id is None else str(row.id) for row in rows]
        read.consumed_by += [row.consumed_by for row in rows]
        read.metadata += [None if row.metadata is None else canonical_json(row.metadata).decode() for row in rows]

    def events(self, order: NDArray[np.int64] | None, gap_ns: NDArray[np.int64]) -> Events:
        """The events, in the file's order or in ``order``; ``gap_ns`` is in that order."""
        read = self.read
        in_file = Events(
            groups=tuple(self._groups),
            signatures=tuple(self._signatures),
            signature=np.concatenate(read.numbers),
            gap_ns=gap_ns,
            offsets_ns=Ragged.joined(read.offsets_ns),
            compute_before_ns=np.concatenate(read.times_ns["compute_before_us"]),
            rank_compute_before_ns=Ragged.joined(read.rank_before_ns),
            compute_overlap_ns=np.concatenate(read.overlap_ns),
            compute_pressure=np.concatenate(read.pressure),
            observed_exposed_ns=np.concatenate(read.times_ns["observed_exposed_us"]),
            message_sequence=np.concatenate(read.sequence),
            consumer=np.full(len(read.ids), UNKNOWN, np.int64),
            compute_uncertain=np.concatenate(read.uncertain),
        )
        ordered = in_file if order is None else replace(in_file.take(order), gap_ns=gap_ns)
        return replace(ordered, consumer=_consumers(self.in_order(read.consumed_by, order), self.ids(order)))

    def ids(self, order: NDArray[np.int64] | None) -> list[str | None]:
        """The rows' ids in ``order``."""
        return self.in_order(self.read.ids, order)

    @staticmethod
    def in_order(values: list[T], order: NDArray[np.int64] | None) -> list[T]:
        """``values`` of the rows, in ``order``."""
        return values if order is None else [values[index] for index in order.tolist()]

    def _group(self, row: Row, index: int) -> ProcessGroup:
        name = (row.group, row.ranks if isinstance(row.ranks, int) else tuple(row.ranks))
        if name not in self._stated:
            self._stated[name] = group_named(*name, f"events[{index}].ranks")
        group = self._stated[name]
        check_rank_count(row, group, index)
        self._arrivals += group.size
        check_arrivals_fit(self._arrivals, f"events[{index}].ranks")
        return group

    def _times(self, us: list[float | None], first: int, name: str) -> NDArray[np.int64]:
        return self.rounding.ns(_floats(us), lambda position: f"events[{first + position}].{name}")

    def _offsets(self, rows: Sequence[Row], groups: Sequence[ProcessGroup], first: int) -> Ragged:
        """Arrival offsets: from the stated arrivals, else the stated skew on the last rank."""
        unknown = [
            row.arrival_skew_unknown or row.rank_arrival_us is None or row.arrival_skew_us is None for row in rows
        ]
        skew = self._times(
            [
                None if hidden or row.arrival_skew_us is UNSET else row.arrival_skew_us
                for row, hidden in zip(rows, unknown, strict=True)
            ],
            first,
            "arrival_skew_us",
        )
        stated = [
            None
            if hidden or row.rank_arrival_us is UNSET
            else self._listed(row.rank_arrival_us, group, index, "rank_arrival_us")
            for index, (row, group, hidden) in enumerate(zip(rows, groups, unknown, strict=True), first)
        ]
        arrivals = self._per_rank(stated, first, "rank_arrival_us")
        known = ~np.asarray(unknown)
        lengths = np.where(known, np.fromiter((g.size for g in groups), np.int64, len(groups)), 0)
        bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        offsets = np.zeros(bounds[-1], np.int64)
        if len(arrivals.values):
            earliest = np.minimum.reduceat(arrivals.values, arrivals.bounds[:-1][arrivals.known])
            own = arrivals.values - np.repeat(earliest, arrivals.lengths[arrivals.known])
            offsets[np.repeat(arrivals.known, lengths)] = own
            spans = np.maximum.reduceat(own, arrivals.bounds[:-1][arrivals.known])
            _check_spans(rows, np.flatnonzero(arrivals.known), spans, skew, first)
        for position in np.flatnonzero((skew > 0) & ~arrivals.known).tolist():
            if lengths[position] == 1:
                raise InputRefusal(
                    f"events[{first + position}].arrival_skew_us",
                    f"is {rows[position].arrival_skew_us} on one rank",
                    "one rank cannot arrive apart from itself",
                )
            offsets[bounds[position + 1] - 1] = skew[position]
        return Ragged(offsets, bounds, known)

    def _per_rank(self, given: list[list[float] | None], first: int, name: str) -> Ragged:
        lengths = np.fromiter((0 if times is None else len(times) for times in given), np.int64, len(given))
        bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        us = np.fromiter((us for times in given if times is not None for us in times), np.float64, bounds[-1])

        def place(position: int) -> str:
            return f"events[{first + int(np.searchsorted(bounds, position, side='right')) - 1}].{name}"

        known = np.fromiter((times is not None for times in given), np.bool_, len(given))
        return Ragged(self.rounding.ns(us, place), bounds, known)

    def _listed(
        self, given: PerRank | UnsetType | None, group: ProcessGroup, index: int, name: str
    ) -> list[float] | None:
        """One time per rank, in the group's order."""
        if given is None or given is UNSET:
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
        return given


def _floats(values: list[float | None]) -> NDArray[np.float64]:
    """float64[n], NaN for None (JSON has no NaN of its own)."""
    return np.fromiter((math.nan if value is None else value for value in values), np.float64, len(values))


def _check_spans(
    rows: Sequence[Row], stated: NDArray[np.int64], spans: NDArray[np.int64], skew: NDArray[np.int64], first: int
) -> None:
    both = (skew[stated] != UNKNOWN) & (np.abs(spans - skew[stated]) > AGREE_NS)
    if both.any():
        row, span = int(stated[np.argmax(both)]), int(spans[np.argmax(both)])
        raise InputRefusal(
            f"events[{first + row}].arrival_skew_us",
            f"is {rows[row].arrival_skew_us} but rank_arrival_us spans {span / NS_PER_US} us",
            "give one of them, or make them agree within 0.001 us",
        )


def _consumers(named: Sequence[str | int | None], ids: Sequence[str | None]) -> NDArray[np.int64]:
    consumer = np.full(len(named), UNKNOWN, np.int64)
    wanted = {str(name) for name in named if name is not None}
    if not wanted:
        return consumer
    where: dict[str, int] = {}
    for position, name in enumerate(ids):
        if name is None:
            continue
        if name in where and name in wanted:
            raise used_twice(position, name)
        where[name] = position
    for position, consumed_by in enumerate(named):
        if consumed_by is not None:
            target = where.get(str(consumed_by), UNKNOWN)
            if target <= position:
                raise InputRefusal(
                    f"events[{position}].consumed_by",
                    f"names {consumed_by!r}, which is not a later event",
                    "name the id of a later event",
                )
            consumer[position] = target
    return consumer
