"""Rows of the exchange JSON read into columns a batch at a time, with every time rounded to whole ns."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from msgspec import UNSET, UnsetType

from commcanary.artifacts.canonical import canonical_json
from commcanary.artifacts.events import UNKNOWN, Events, ProcessGroup, Ragged, Signature
from commcanary.artifacts.trace_checks import check_arrivals_fit
from commcanary.artifacts.trace_ids import used_twice
from commcanary.artifacts.trace_limits import MAX_GROUPS, MAX_LISTED_RANKS, MAX_SIGNATURES, check_fits
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
from commcanary.artifacts.trace_row_columns import Columns, GrowingColumns
from commcanary.errors import InputRefusal
from commcanary.units import NS_PER_US

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_TIMES = ("start_us", "compute_before_us", "observed_exposed_us")


class RowReader:
    """Rows turned into columns, batch after batch; ``rounding`` counts all but the gaps."""

    def __init__(self) -> None:
        self.rounding = Rounding()
        self.count = 0
        self.read = GrowingColumns()
        self._groups: dict[ProcessGroup, int] = {}
        self._stated: dict[tuple[str, int | tuple[int, ...]], ProcessGroup] = {}
        self._signatures: dict[Signature, int] = {}
        self._arrivals = 0
        self._listed_ranks = 0

    def add(self, rows: Sequence[Row]) -> None:
        """Read the next rows; raises ``InputRefusal`` naming the event and field that no trace may have."""
        first = self.count
        groups = [self._group(row, index) for index, row in enumerate(rows, first)]
        number = (
            self._signatures.setdefault(
                signature_of(row, self._groups.setdefault(group, len(self._groups))), len(self._signatures)
            )
            for row, group in zip(rows, groups, strict=True)
        )
        signature = np.fromiter(number, np.int32, len(rows))
        if len(self._signatures) > MAX_SIGNATURES:
            row = first + int(np.argmax(signature >= MAX_SIGNATURES))
            check_fits(len(self._signatures), MAX_SIGNATURES, f"events[{row}]", "operations")
        offsets = self._offsets(rows, groups, first)
        before = [
            self._listed(row.rank_compute_before_us, group, index, "rank_compute_before_us")
            for index, (row, group) in enumerate(zip(rows, groups, strict=True), first)
        ]
        rank_before = self._per_rank(before, first, "rank_compute_before_us")
        times = {name: self._times([getattr(row, name) for row in rows], first, name) for name in _TIMES}
        overlap = [
            None if row.compute_overlap_unknown else 0.0 if row.compute_overlap_us is UNSET else row.compute_overlap_us
            for row in rows
        ]
        columns = Columns(
            signature=signature,
            gap_us=_floats([row.gap_us for row in rows]),
            start_ns=times["start_us"],
            compute_before_ns=times["compute_before_us"],
            observed_exposed_ns=times["observed_exposed_us"],
            compute_overlap_ns=self._times(overlap, first, "compute_overlap_us"),
            offsets_ns=offsets,
            rank_before_ns=rank_before,
            pressure=np.fromiter((row.compute_pressure for row in rows), np.float64, len(rows)),
            sequence=np.fromiter((sequence_of(row, i) for i, row in enumerate(rows, first)), np.int64, len(rows)),
            uncertain=np.fromiter((row.compute_fields_uncertain for row in rows), np.bool_, len(rows)),
        )
        self.read.add(columns)
        self.read.ids.add([None if row.id is None else str(row.id) for row in rows])
        self.read.consumed_by.add([row.consumed_by for row in rows])
        self.read.metadata.add(
            [None if row.metadata is None else canonical_json(row.metadata).decode() for row in rows]
        )
        self.count += len(rows)

    def events(
        self,
        columns: Columns,
        order: NDArray[np.int64] | None,
        gap_ns: NDArray[np.int64],
        ids: Sequence[str | None] | None,
    ) -> Events:
        """The events, in the file's order or in ``order``; ``gap_ns`` and ``ids`` are in that order."""
        in_file = Events(
            groups=tuple(self._groups),
            signatures=tuple(self._signatures),
            signature=columns.signature,
            gap_ns=gap_ns,
            offsets_ns=columns.offsets_ns,
            compute_before_ns=columns.compute_before_ns,
            rank_compute_before_ns=columns.rank_before_ns,
            compute_overlap_ns=columns.compute_overlap_ns,
            compute_pressure=columns.pressure,
            observed_exposed_ns=columns.observed_exposed_ns,
            message_sequence=columns.sequence,
            consumer=np.full(len(gap_ns), UNKNOWN, np.int64),
            compute_uncertain=columns.uncertain,
        )
        ordered = in_file if order is None else replace(in_file.take(order), gap_ns=gap_ns)
        named = self.read.consumed_by.in_order(order)
        return ordered if named is None else replace(ordered, consumer=_consumers(named, ids))

    def _group(self, row: Row, index: int) -> ProcessGroup:
        name = (row.group, row.ranks if isinstance(row.ranks, int) else tuple(row.ranks))
        if name not in self._stated:
            self._listed_ranks += 0 if isinstance(row.ranks, int) else len(row.ranks)
            check_fits(self._listed_ranks, MAX_LISTED_RANKS, f"events[{index}].ranks", "places in lists of ranks")
            check_fits(len(self._stated) + 1, MAX_GROUPS, f"events[{index}].group", "process groups")
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


def _consumers(named: Sequence[str | int | None], ids: Sequence[str | None] | None) -> NDArray[np.int64]:
    consumer = np.full(len(named), UNKNOWN, np.int64)
    wanted = {str(name) for name in named if name is not None}
    where: dict[str, int] = {}
    for position, name in enumerate(ids or ()):
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
