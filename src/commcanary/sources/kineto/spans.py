"""Intervals as columns, and the numbering of what repeats beside them."""

from __future__ import annotations

from array import array
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from commcanary.errors import InputRefusal
from commcanary.sources.kineto.text import LARGEST_EXACT_FLOAT_US
from commcanary.units import MAX_TIME_US, NS_PER_US

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from numpy.typing import NDArray

    from commcanary.sources.kineto.document import Event

_START, _LENGTH = attrgetter("ts"), attrgetter("dur")

LATEST_US = 4e15
"""Time stamps lie within this of 0, in microseconds (until the year 2096): sums then fit 64 bits of ns."""


class Numbered:
    """Values numbered in the order in which they first appeared."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[Hashable, int] = {}

    def number(self, value: Hashable) -> int:
        """The number of ``value``, a new one where it is new."""
        known = self._numbers.get(value)
        if known is None:
            known = self._numbers[value] = len(self.values)
            self.values.append(value)
        return known

    def of(self, values: Iterable[Hashable]) -> list[int]:
        """The number of each of ``values``."""
        numbers = self._numbers
        return [numbers[value] if value in numbers else self.number(value) for value in values]


class Spans:
    """Intervals [start, end) in ns, in file order.

    ``thread`` numbers the thread (or stream), ``event`` is the place in ``traceEvents``, ``code`` numbers
    whatever the intervals have that repeats.
    """

    def __init__(self) -> None:
        self._columns = {name: array("q") for name in ("start", "end", "thread", "event", "code")}

    def __len__(self) -> int:
        return len(self._columns["start"])

    def column(self, name: str) -> NDArray[np.int64]:
        """int64[n]: one of the five columns."""
        return np.frombuffer(self._columns[name], np.int64) if len(self) else np.zeros(0, np.int64)

    def append(self, start: int, end: int, thread: int, event: int, code: int) -> None:
        """Append one interval."""
        for column, value in zip(self._columns.values(), (start, end, thread, event, code), strict=True):
            column.append(value)

    def extend(
        self, events: Sequence[Event], numbers: Sequence[int], threads: Sequence[int], codes: Sequence[int]
    ) -> None:
        """Append ``events``; raises ``InputRefusal`` for a time that is missing, negative or out of range."""
        start = _ns(list(map(_START, events)), numbers, "ts", -LATEST_US, LATEST_US)
        length = _ns(list(map(_LENGTH, events)), numbers, "dur", 0, MAX_TIME_US)
        self._columns["start"].frombytes(start.tobytes())
        self._columns["end"].frombytes((start + length).tobytes())
        for name, values in (("thread", threads), ("event", numbers), ("code", codes)):
            self._columns[name].extend(values)


def _ns(values: list[Any], numbers: Sequence[int], name: str, low: float, high: float) -> NDArray[np.int64]:
    """int64[n]: whole ns of microseconds, half to even."""
    if None in values or not (low <= min(values, default=low) and max(values, default=low) <= high):
        for value, number in zip(values, numbers, strict=True):
            if value is not None and low <= value <= high:
                continue
            raise InputRefusal(
                f"traceEvents[{number}].{name}",
                "is missing" if value is None else f"is {value}",
                f"it is a number of microseconds from {low:.0f} to {high:.0f}; export the profile again",
            )
    plain = np.asarray(values)
    if plain.dtype == np.int64:
        return np.asarray(plain * NS_PER_US, np.int64)
    if plain.dtype == np.float64 and np.abs(plain).max(initial=0) < LARGEST_EXACT_FLOAT_US:
        return np.asarray(np.rint(plain * NS_PER_US), np.int64)
    return np.asarray([round(value * NS_PER_US) for value in values], np.int64)
