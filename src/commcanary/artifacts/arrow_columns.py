"""NumPy columns with -1 for unknown <-> Arrow columns with null."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from commcanary.artifacts.events import UNKNOWN, Ragged
from commcanary.errors import InputRefusal

if TYPE_CHECKING:
    from numpy.typing import NDArray

_REMEDY = "write the file again with the stage that made it"


def whole(column: pa.ChunkedArray) -> pa.Array:
    """A table's column in one piece: the one that it is made of, or its pieces copied together."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def nullable(values: NDArray[np.int64]) -> pa.Array:
    """int64 Arrow column, null where ``values`` is -1."""
    missing = values == UNKNOWN
    return pa.array(values, mask=missing) if missing.any() else pa.array(values)


def from_nullable(column: pa.Array, name: str = "") -> NDArray[np.int64]:
    """int64[n], -1 where the Arrow column is null.

    Raises ``InputRefusal`` naming the row of a negative value: what is unknown is null, never -1.
    """
    values = np.array(column.fill_null(0), dtype=np.int64)
    if len(values) and values.min() < 0:
        row = int(np.argmax(values < 0))
        raise InputRefusal(f"row {row} column {name}", f"is {values[row]}", "give 0 or more, null where unknown")
    if column.null_count:
        values[np.asarray(column.is_null())] = UNKNOWN
    return values


def lists(ragged: Ragged) -> pa.Array:
    """list<int64> Arrow column, null where the list is unknown."""
    bounds = pa.array(ragged.bounds.astype(np.int32))
    values = pa.array(ragged.values)
    if ragged.known.all():
        return pa.ListArray.from_arrays(bounds, values)
    return pa.ListArray.from_arrays(bounds, values, mask=pa.array(~ragged.known))


def from_lists(column: pa.Array, name: str = "") -> Ragged:
    """The lists of a list<int64> column; null lists are unknown.

    Raises ``InputRefusal`` where an element is null: a list is known whole or not at all.
    """
    known = np.asarray(column.is_valid())
    lengths = np.asarray(column.value_lengths().fill_null(0), dtype=np.int64)
    bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    values = column.flatten()
    if values.null_count:
        element = int(np.argmax(np.asarray(values.is_null())))
        row = int(np.searchsorted(bounds, element, side="right")) - 1
        raise InputRefusal(f"row {row} column {name}", "holds null inside its list", _REMEDY)
    return Ragged(np.array(values, dtype=np.int64), bounds, known)
