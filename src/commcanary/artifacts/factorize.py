"""Numbering distinct rows of several columns by first appearance, without building rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


def codes_of(column: pa.Array) -> NDArray[np.int64]:
    """int64[n]: the number of each row's value in order of first appearance; nulls are one more value."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    indices = encoded.indices.fill_null(len(encoded.dictionary))
    return first_appearance(np.asarray(indices.cast(pa.int64())))


def first_appearance(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64[n]: distinct integers renumbered 0, 1, ... in order of first appearance."""
    return np.asarray(pa.array(values).dictionary_encode().indices.cast(pa.int64()))


def combined(columns: Iterable[NDArray[np.int64]], count: int) -> NDArray[np.int64]:
    """int64[n]: one number per distinct combination of the ``codes_of`` columns, by first appearance."""
    result = np.zeros(count, np.int64)
    for codes in columns:
        if count and codes.max() > 0:
            result = first_appearance(result * (int(codes.max()) + 1) + codes)
    return result
