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

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

NULL = np.iinfo(np.int64).min
"""Stands for null inside the arrays here; written as null."""

_PERIOD_CANDIDATES = 64
CHAINS: tuple[tuple[str, ...], ...] = (
    (),
    ("runs",),
    ("period",),
    ("delta",),
    ("delta", "runs"),
    ("delta", "period"),
)
_INDEX_CHAINS: tuple[tuple[str, ...], ...] = ((), ("runs",), ("period",))


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
    distinct, index = np.unique(values, return_inverse=True)
    runs = _runs(index.astype(np.int64))
    forms: list[Form] = [{name: values}, {f"{name}.values": distinct, **encode_integers(f"{name}.index", index)}]
    if len(runs) <= len(values):
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


def _forms(name: str, values: NDArray[np.int64]) -> list[Form]:
    forms: list[Form] = [
        {".".join((name, *chain)): column} for chain in CHAINS[1:] if (column := _applied(chain, values)) is not None
    ]
    distinct, index = np.unique(values, return_inverse=True)
    if len(distinct) * 2 < len(values):
        for chain in _INDEX_CHAINS:
            column = _applied(chain, index.astype(np.int64))
            if column is not None:
                forms.append({f"{name}.values": distinct, ".".join((f"{name}.index", *chain)): column})
    return forms


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


def _runs(values: NDArray[np.int64]) -> NDArray[np.int64]:
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    lengths = np.diff(np.append(starts, len(values)))
    return np.column_stack([values[starts], lengths]).reshape(-1)


def _delta(values: NDArray[np.int64]) -> NDArray[np.int64] | None:
    if (values == NULL).any() or np.abs(values, dtype=np.float64).max() > 2.0**61:
        return None  # differences must neither be null nor wrap
    return np.concatenate([values[:1], np.diff(values)])


def _period(values: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Shortest body, looked for at the first returns of the first values only."""
    head = values[: min(8, len(values))]
    starts = np.flatnonzero(values[1 : len(values) // 2 + 1] == values[0]) + 1
    tried = 0
    for start in starts:
        if not np.array_equal(values[start : start + len(head)], head[: len(values) - start]):
            continue
        if np.array_equal(values[start:], values[:-start]):
            return np.concatenate([[len(values)], values[:start]])
        tried += 1
        if tried == _PERIOD_CANDIDATES:
            break
    return None


def _digits(values: NDArray[np.int64] | NDArray[np.float64] | NDArray[np.object_]) -> int:
    """Characters of the comma-separated list, without its brackets."""
    if len(values) == 0:
        return 0
    if values.dtype != np.int64:
        return sum(len(repr(v)) + 1 for v in values.tolist()) - 1
    present = values[values != NULL]
    size = len(values) - 1 + 4 * (len(values) - len(present)) + int((present < 0).sum()) + len(present)
    magnitude = np.abs(present)
    for power in range(1, 19):
        over = int((magnitude >= 10**power).sum())
        if over == 0:
            break
        size += over
    return size
