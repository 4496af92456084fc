"""Columns of the rows of exchange JSON: filled a batch at a time, then joined one by one.

Each column's batches are let go as it is joined, so that no more than one column exists twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from commcanary.artifacts.events import Ragged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

T = TypeVar("T")


@dataclass(frozen=True)
class Columns:
    """Columns of all rows in the order of the file; ``gap_us`` is NaN where a row gives none, else -1 is unknown."""

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
    ids: RareValues[str]
    consumed_by: RareValues[str | int]
    metadata: RareValues[str]

    @classmethod
    def joined(cls, parts: list[Columns]) -> Columns:
        """The columns of all ``parts``, one part after the other; ``parts`` is empty afterwards."""
        lists = {name: [getattr(part, name) for part in parts] for name in cls.__dataclass_fields__}
        parts.clear()
        return cls(**{name: _whole(lists.pop(name)) for name in list(lists)})


@dataclass(frozen=True)
class RareValues(Generic[T]):
    """One value per row, where most rows of most files have none: nothing is held for ``count`` rows without any."""

    count: int
    values: list[T | None] | None = field(default=None)

    @classmethod
    def of(cls, values: list[T | None]) -> RareValues[T]:
        """The values of the rows, None where a row has none."""
        return cls(len(values), None if values.count(None) == len(values) else values)

    def in_order(self, order: NDArray[np.int64] | None) -> tuple[T | None, ...] | None:
        """The values of the rows in ``order`` (None: of the file), None where no row has any."""
        if self.values is None:
            return None
        return tuple(self.values) if order is None else tuple(self.values[index] for index in order.tolist())


def _whole(parts: Sequence[Any]) -> Any:
    first = parts[0]
    if isinstance(first, Ragged):
        return Ragged.joined(parts)
    if isinstance(first, RareValues):
        return _together(parts)
    return np.concatenate(parts)


def _together(parts: Sequence[RareValues[T]]) -> RareValues[T]:
    count = sum(part.count for part in parts)
    if all(part.values is None for part in parts):
        return RareValues(count)
    values: list[T | None] = []
    for part in parts:
        values += [None] * part.count if part.values is None else part.values
    return RareValues(count, values)
