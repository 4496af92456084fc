"""Integer columns as short lists of plain JSON numbers: runs, periods, deltas and dictionaries.

A column stands under its name and the steps that were applied to it, in order:

    gap              the values themselves; null where a value is missing
    gap.runs         value, length, value, length, ...
    gap.period       number of values, then the shortest body that repeats to give them all
    gap.delta        the first value, then differences
    gap.delta.runs   differences as runs, and so on
    gap.values       the distinct values, with ``gap.index`` (and its steps) saying which one stands where

Columns of fractions (pressure) know the forms ``x``, ``x.runs`` and ``x.values``.

Every form gives back exactly the column; the one with the shortest text is written, ties by the order
above. Entropy coding is left to whoever compresses the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

NULL = np.iinfo(np.int64).min
"""Stands for null inside the arrays here; written as null."""

_PERIOD_CANDIDATES = 64
_HEAD = 8
_LOOKED_AT = 65_536
_LARGEST_IN_DELTA = 2**61
CHAINS: tuple[tuple[str, ...], ...] = (
    (),
    ("runs",),
    ("period",),
    ("delta",),
    ("delta", "runs"),
    ("delta", "period"),
)
_INDEX_CHAINS: tuple[tuple[str, ...], ...] = ((), ("runs",), ("period",))


T = TypeVar("T", bound=np.generic)
Form = dict[str, "NDArray[np.int64] | NDArray[np.float64] | NDArray[np.object_]"]


def encode_integers(name: str, values: NDArray[np.int64]) -> Form:
    """The shortest form of an int64 column (``NULL`` where missing), by key."""
    best: Form = {name: values}
    best_size = text_size(best)
    for form in _forms(name, values):
        size = text_size(form)
        if size < best_size:
            best, best_size = form, size
    return best


def encode_floats(name: str, values: NDArray[np.float64]) -> Form:
    """The shortest form of a float64 column, by key."""
    distinct, index = _dictionary(values)
    forms: list[Form] = [{name: values}, {f"{name}.values": distinct, **encode_integers(f"{name}.index", index)}]
    runs = _runs(index)
    if runs is not None:
        pairs = np.empty(len(runs), object)
        pairs[::2], pairs[1::2] = distinct[runs[::2]], runs[1::2]
        forms.insert(1, {f"{name}.runs": pairs})
    return min(forms, key=text_size)


def plain_lists(form: Form) -> dict[str, list[Any]]:
    """The form as JSON lists, missing values as null."""
    return {key: [None if v == NULL else v for v in column.tolist()] for key, column in form.items()}


def text_size(form: Form) -> int:
    """Bytes of the form's canonical JSON without the outer braces, each key with one comma."""
    return sum(len(key) + 6 + _digits(column) for key, column in form.items())


def _forms(name: str, values: NDArray[np.int64]) -> Iterator[Form]:
    for chain in CHAINS[1:]:
        column = _applied(chain, values)
        if column is not None:
            yield {".".join((name, *chain)): column}
    if not _repeats_values(values[:_LOOKED_AT]):
        return
    distinct, index = _dictionary(values)
    for chain in _INDEX_CHAINS:
        column = _applied(chain, index)
        if column is not None:
            yield {f"{name}.values": distinct, ".".join((f"{name}.index", *chain)): column}


def _repeats_values(values: NDArray[np.int64]) -> bool:
    """Are fewer than half of the values distinct? Decides, on the first ones, whether a dictionary is tried."""
    return len(np.unique(values)) * 2 < len(values)


def _dictionary(values: NDArray[T]) -> tuple[NDArray[T], NDArray[np.int64]]:
    """The distinct values in ascending order, and which of them stands where."""
    encoded = pa.array(values).dictionary_encode()
    found = np.asarray(encoded.dictionary)
    order = np.argsort(found)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return found[order], rank[np.asarray(encoded.indices)]


def _applied(chain: tuple[str, ...], values: NDArray[np.int64]) -> NDArray[np.int64] | None:
    steps: dict[str, Callable[[NDArray[np.int64]], NDArray[np.int64] | None]] = {
        "runs": _runs,
        "period": _period,
        "delta": _delta,
    }
    column: NDArray[np.int64] | None = values
    for step in chain:
        if column is None or len(column) == 0:
            return None
        column = steps[step](column)
    return column


def _runs(values: NDArray[np.int64]) -> NDArray[np.int64] | None:
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    if 2 * len(starts) > 21 * (len(values) - len(starts)):
        return None  # each run costs 2 characters or more, each value that it spares at most 21
    lengths = np.diff(np.append(starts, len(values)))
    return np.column_stack([values[starts], lengths]).reshape(-1)


def _delta(values: NDArray[np.int64]) -> NDArray[np.int64] | None:
    if int(values.min()) < -_LARGEST_IN_DELTA or int(values.max()) > _LARGEST_IN_DELTA:
        return None  # differences must neither be null nor wrap
    return np.diff(values, prepend=0)


def _period(values: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Shortest body, looked for at the first returns of the first values only."""
    starts = np.flatnonzero(values[1 : len(values) // 2 + 1] == values[0]) + 1
    for step in range(1, min(_HEAD, len(values) // 2)):
        starts = starts[values[starts + step] == values[step]]
    for start in starts[:_PERIOD_CANDIDATES].tolist():
        near = values[start : start + _LOOKED_AT]
        if np.array_equal(near, values[: len(near)]) and np.array_equal(values[start:], values[:-start]):
            return np.concatenate([[len(values)], values[:start]])
    return None


def _digits(values: NDArray[np.int64] | NDArray[np.float64] | NDArray[np.object_]) -> int:
    """Characters of the comma-separated list, without its brackets."""
    if len(values) == 0:
        return 0
    if values.dtype == np.object_:
        return sum(len(repr(v)) + 1 for v in values.tolist()) - 1
    if values.dtype == np.float64:
        distinct, index = _dictionary(values)
        return int(np.array([len(repr(v)) + 1 for v in distinct.tolist()])[index].sum()) - 1
    present = values if values.min() != NULL else values[values != NULL]
    size = len(values) - 1 + 4 * (len(values) - len(present)) + int(np.count_nonzero(present < 0)) + len(present)
    magnitude = np.abs(present)
    for power in range(1, 19):
        magnitude = magnitude[magnitude >= 10**power]
        if len(magnitude) == 0:
            break
        size += len(magnitude)
    return size
