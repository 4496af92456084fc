"""Program order of exchange rows, and the gaps between them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from commcanary.artifacts.trace_rows import AGREE_NS, Row, RowReader
from commcanary.errors import InputRefusal
from commcanary.units import NS_PER_US

if TYPE_CHECKING:
    from collections.abc import Sequence


def ordered_gaps(rows: Sequence[Row], reader: RowReader) -> tuple[list[int], list[int]]:
    """Program order of the rows and their gaps in ns.

    All rows start somewhere: sorted by (start, position), gaps are differences. None does: input order,
    gap = gap_us, else compute_before_us, else 0. Some do: input order, and every row must give gap_us.
    """
    started = [index for index, row in enumerate(rows) if row.start_us is not None]
    if len(started) == len(rows):
        return _by_start(rows, reader)
    if started:
        for index, row in enumerate(rows):
            if row.gap_us is None:
                raise InputRefusal(
                    f"events[{index}].gap_us",
                    f"is missing while start_us is given on only {len(started)} of {len(rows)} events",
                    "give start_us on all events, or gap_us on all",
                )
    gaps = []
    for index, row in enumerate(rows):
        name, us = ("gap_us", row.gap_us) if row.gap_us is not None else ("compute_before_us", row.compute_before_us)
        counted = reader if name == "gap_us" else RowReader(rows)  # compute before is counted as a column of its own
        gaps.append(0 if us is None else counted.ns(us, f"events[{index}].{name}"))
    return list(range(len(rows))), gaps


def _by_start(rows: Sequence[Row], reader: RowReader) -> tuple[list[int], list[int]]:
    counter = RowReader(rows)  # starts are counted as rounded once, when the columns are made
    start = [counter.ns(row.start_us or 0.0, f"events[{i}].start_us") for i, row in enumerate(rows)]
    order = sorted(range(len(rows)), key=lambda index: start[index])
    first = rows[order[0]].gap_us
    gaps = [0 if first is None else reader.ns(first, f"events[{order[0]}].gap_us")]
    for before, index in pairwise(order):
        gap = start[index] - start[before]
        given = rows[index].gap_us
        if given is not None and abs(counter.ns(given, f"events[{index}].gap_us") - gap) > AGREE_NS:
            raise InputRefusal(
                f"events[{index}].gap_us",
                f"is {given} but start_us is {gap / NS_PER_US} us after the event before",
                "leave gap_us out where start_us is given, or make them agree within 0.001 us",
            )
        gaps.append(gap)
    return order, gaps
