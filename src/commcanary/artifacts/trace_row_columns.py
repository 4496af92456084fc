"""Columns of the rows of exchange JSON, filled a batch at a time.

A column grows in place, so that none is ever held twice, and many short pieces are never left behind.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from commcanary.artifacts.events import Ragged

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")


@dataclass
class RareValues(Generic[T]):
    """One value per row, where most rows of most files have none: nothing is held for ``count`` rows without any."""

    count: int = 0
    values: list[T | None] | None = None

    def add(self, values: list[T | None]) -> None:
        """The values of the next rows, None where a row has none."""
        if self.values is None and values.count(None) < len(values):
            self.values = [None] * self.count
        if self.values is not None:
            self.values += values
        self.count += len(values)

    def in_order(self, order: NDArray[np.int64] | None) -> tuple[T | None, ...] | None:
        """The values of the rows in ``order`` (None: of the file), None where no row has any."""
        if self.values is None:
            return None
        return tuple(self.values) if order is None else tuple(self.values[index] for index in order.tolist())


@dataclass(frozen=True)
class Columns:
    """Columns of some rows in the order of the file; ``gap_us`` is NaN where a row gives none, else -1 is unknown."""

    signature: NDArray[np.int32]
    gap_us: NDArray[np.float64]
    start_ns: NDArray[np.int64]
    compute_before_ns: NDArray[np.int64]
    observed_exposed_ns: NDArray[np.int64]
    compute_overlap_ns: NDArray[np.int64]
    offsets_ns: Ragged
    rank_before_ns: Ragged
    pressure: NDArray[np.float64]
    sequence: NDArray[np.int64]
    uncertain: NDArray[np.bool_]


@dataclass
class GrowingColumns:
    """The columns of all rows so far, and what few rows have."""

    ids: RareValues[str] = field(default_factory=RareValues)
    consumed_by: RareValues[str | int] = field(default_factory=RareValues)
    metadata: RareValues[str] = field(default_factory=RareValues)
    _grown: dict[str, _Growing] = field(default_factory=dict)

    def add(self, part: Columns) -> None:
        """The columns of the next rows."""
        for name, values in vars(part).items():
            if isinstance(values, Ragged):
                self._grow(f"{name}.values", values.values)
                self._grow(f"{name}.lengths", values.lengths)
                self._grow(f"{name}.known", values.known)
            else:
                self._grow(name, values)

    def taken(self) -> Columns:
        """The columns of all rows, which are no longer held here."""
        grown, self._grown = self._grown, {}

        def lists(name: str) -> Ragged:
            lengths = grown.pop(f"{name}.lengths").array()
            bounds = np.zeros(len(lengths) + 1, np.int64)
            np.cumsum(lengths, out=bounds[1:])
            return Ragged(grown.pop(f"{name}.values").array(), bounds, grown.pop(f"{name}.known").array())

        whole: dict[str, Any] = {name: lists(name) for name in ("offsets_ns", "rank_before_ns")}
        whole |= {name: column.array() for name, column in grown.items()}
        return Columns(**whole)

    def _grow(self, name: str, values: NDArray[Any]) -> None:
        if name not in self._grown:
            self._grown[name] = _Growing(values.dtype)
        self._grown[name].add(values)


class _Growing:
    """An array that grows at its end, where it lies: moving a large block copies nothing."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._dtype = dtype
        self._bytes = bytearray()

    def add(self, values: NDArray[Any]) -> None:
        self._bytes += values.tobytes()

    def array(self) -> NDArray[Any]:
        return np.frombuffer(self._bytes, self._dtype)
