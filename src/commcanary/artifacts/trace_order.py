"""Program order of exchange rows, and the gaps between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.events import UNKNOWN
from commcanary.artifacts.trace_rounding import Rounding
from commcanary.artifacts.trace_row import AGREE_NS
from commcanary.errors import InputRefusal
from commcanary.units import NS_PER_US

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.artifacts.trace_row_columns import Columns


def ordered_gaps(columns: Columns, rounding: Rounding) -> tuple[NDArray[np.int64] | None, NDArray[np.int64]]:
    """Program order of the rows of ``columns`` (None: as in the file) and their gaps in ns in that order.

    All rows start somewhere: sorted by (start, position), gaps are differences. None does: input order,
    gap = gap_us, else compute_before_us, else 0. Some do: input order, and every row must give gap_us.
    """
    start, gap_us = columns.start_ns, columns.gap_us
    started = start != UNKNOWN
    if started.all():
        return _by_start(start, gap_us, rounding)
    if started.any() and np.isnan(gap_us).any():
        raise InputRefusal(
            f"events[{int(np.argmax(np.isnan(gap_us)))}].gap_us",
            f"is missing while start_us is given on only {np.count_nonzero(started)} of {len(start)} events",
            "give start_us on all events, or gap_us on all",
        )
    gap = rounding.ns(gap_us, _gap_place)
    return None, np.where(gap != UNKNOWN, gap, np.maximum(columns.compute_before_ns, 0))


def _by_start(
    start: NDArray[np.int64], gap_us: NDArray[np.float64], rounding: Rounding
) -> tuple[NDArray[np.int64] | None, NDArray[np.int64]]:
    order = np.argsort(start, kind="stable")
    first = int(order[0])
    gaps = np.diff(start[order], prepend=start[first])
    gaps[0] = max(0, int(rounding.ns(gap_us[first : first + 1], lambda _: _gap_place(first))[0]))
    given = Rounding().ns(gap_us, _gap_place)[order]  # what follows from the starts was counted with them
    differ = (given != UNKNOWN) & (np.abs(given - gaps) > AGREE_NS)
    differ[0] = False
    if differ.any():
        position = int(np.argmax(differ))
        index = int(order[position])
        raise InputRefusal(
            _gap_place(index),
            f"is {gap_us[index]} but start_us is {gaps[position] / NS_PER_US} us after the event before",
            "leave gap_us out where start_us is given, or make them agree within 0.001 us",
        )
    return (None if (order[1:] > order[:-1]).all() else order), gaps


def _gap_place(index: int) -> str:
    return f"events[{index}].gap_us"
