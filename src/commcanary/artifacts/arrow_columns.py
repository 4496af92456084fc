"""NumPy columns with -1 for unknown <-> Arrow columns with null."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from commcanary.artifacts.events import UNKNOWN, Ragged

if TYPE_CHECKING:
    from numpy.typing import NDArray


def nullable(values: NDArray[np.int64]) -> pa.Array:
    """int64 Arrow column, null where ``values`` is -1."""
    missing = values == UNKNOWN
    return pa.array(values, mask=missing) if missing.any() else pa.array(values)


def from_nullable(column: pa.Array) -> NDArray[np.int64]:
    """int64[n], -1 where the Arrow column is null."""
    return np.array(column.fill_null(UNKNOWN), dtype=np.int64)


def lists(ragged: Ragged) -> pa.Array:
    """list<int64> Arrow column, null where the list is unknown."""
    bounds = pa.array(ragged.bounds.astype(np.int32))
    values = pa.array(ragged.values)
    if ragged.known.all():
        return pa.ListArray.from_arrays(bounds, values)
    return pa.ListArray.from_arrays(bounds, values, mask=pa.array(~ragged.known))


def from_lists(column: pa.Array) -> Ragged:
    """The lists of a list<int64> column; null lists are unknown. Elements must not be null."""
    known = np.asarray(column.is_valid())
    lengths = np.asarray(column.value_lengths().fill_null(0), dtype=np.int64)
    return Ragged(
        np.array(column.flatten(), dtype=np.int64),
        np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]),
        known,
    )
