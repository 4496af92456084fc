"""Integer columns as short lists of plain JSON numbers: runs, periods, deltas and dictionaries.

A column stands under its name and the steps that were applied to it, in order:

    gap              the values themselves; null where a value is missing
    gap.runs         value, length, value, length, ...
    gap.period       number of values, then the shortest body that repeats to give them all
    gap.delta        the first value, then differences
    gap.delta.runs   differences as runs, and so on
    gap.values       the distinct values, with ``gap.index`` (and its steps) saying which one stands where

Every form gives back exactly the column; the one with the shortest text is written, ties by the order
above. Entropy coding is left to whoever compresses the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from commcanary.errors import InputRefusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

NULL = np.iinfo(np.int64).min
"""Stands for null inside the arrays here; written as null."""

_PERIOD_CANDIDATES = 64
_REMEDY = "write the file again with the stage that made it"
_CHAINS: tuple[tuple[str, ...], ...] = (
    (),
    ("runs",),
    ("period",),
    ("delta",),
    ("delta", "runs"),
    ("delta", "period"),
)
_INDEX_CHAINS: tuple[tuple[str, ...], ...] = ((), ("runs",), ("period",))


Form = dict[str, "NDArray[np.int64] | NDArray[np.float64]"]


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
    """A float column as distinct values and an integer index."""
    distinct, index = np.unique(values, return_inverse=True)
    return {f"{name}.values": distinct, **encode_integers(f"{name}.index", index.astype(np.int64))}


def plain_lists(form: Form) -> dict[str, list[Any]]:
    """The form as JSON lists, missing values as null."""
    return {key: [None if v == NULL else v for v in column.tolist()] for key, column in form.items()}


def text_size(form: Form) -> int:
    """Bytes of the form's canonical JSON without the outer braces, each key with one comma."""
    return sum(len(key) + 6 + _digits(column) for key, column in form.items())


class EncodedColumns:
    """The encoded columns of one JSON document, taken out by name.

    Every column is asked for with the number of values that it may have at most (``limit``): a period or a
    run cannot ask for all the memory. Raises ``InputRefusal`` (from ``integers``, ``floats`` and ``finish``)
    naming the key that does not decode.
    """

    def __init__(self, place: str, columns: dict[str, list[Any]]) -> None:
        self.place = place
        self.left = dict(columns)

    def has(self, name: str) -> bool:
        """Is the column there, in any form?"""
        return any(key == name or key.startswith(name + ".") for key in self.left)

    def integers(self, name: str, limit: int) -> NDArray[np.int64]:
        """The int64 column ``name``, ``NULL`` where missing."""
        if f"{name}.values" in self.left:
            values = self._numbers(f"{name}.values")
            index = self.integers(f"{name}.index", limit)
            return values[self._checked_index(index, len(values), name)]
        for chain in _CHAINS:
            key = ".".join((name, *chain))
            if key in self.left:
                values = self._numbers(key)
                for step in reversed(chain):
                    values = self._undone(step, values, key, limit)
                if len(values) > limit:
                    raise InputRefusal(f"{self.place}.{key}", f"has more than {limit} values", _REMEDY)
                return values
        raise InputRefusal(f"{self.place}.{name}", "is missing", _REMEDY)

    def floats(self, name: str, limit: int) -> NDArray[np.float64]:
        """The float64 column ``name``."""
        given = self.left.pop(f"{name}.values", None)
        if given is None or not all(type(v) is float or (type(v) is int and abs(v) < 2**63) for v in given):
            raise InputRefusal(f"{self.place}.{name}.values", "is not a list of numbers", _REMEDY)
        index = self.integers(f"{name}.index", limit)
        values = np.asarray(given, np.float64)
        return values[self._checked_index(index, len(values), name)]

    def finish(self) -> None:
        """Raise ``InputRefusal`` where a key is left that nothing read."""
        if self.left:
            raise InputRefusal(f"{self.place}.{min(self.left)}", "is not a column of this artifact", "remove it")

    def _numbers(self, key: str) -> NDArray[np.int64]:
        given = self.left.pop(key)
        whole = [NULL if v is None else v for v in given]
        if not all(type(v) is int and NULL <= v < 2**63 for v in whole) or NULL in given:
            raise InputRefusal(f"{self.place}.{key}", "holds something else than whole 64-bit numbers", _REMEDY)
        return np.asarray(whole, np.int64)

    def _checked_index(self, index: NDArray[np.int64], count: int, name: str) -> NDArray[np.int64]:
        if len(index) and (index.min() < 0 or index.max() >= count):
            raise InputRefusal(f"{self.place}.{name}.index", f"points outside its {count} values", _REMEDY)
        return index

    def _undone(self, step: str, values: NDArray[np.int64], key: str, limit: int) -> NDArray[np.int64]:
        place = f"{self.place}.{key}"
        if step == "delta":
            # a float sum is never wrong by more than a factor: enough to see that the integers would wrap
            if (values == NULL).any() or np.abs(np.cumsum(values.astype(np.float64))).max(initial=0.0) > 2.0**62:
                raise InputRefusal(place, "does not add up to known 64-bit numbers", _REMEDY)
            return np.cumsum(values)
        if step == "runs":
            lengths = values[1::2]
            if len(values) % 2 or (lengths < 1).any() or lengths.sum(dtype=np.float64) > limit:
                raise InputRefusal(place, f"is not pairs of value and length with at most {limit} values", _REMEDY)
            return np.repeat(values[::2], lengths)
        body = values[1:]
        if len(body) == 0 or not 0 < values[0] <= limit:
            raise InputRefusal(place, f"is not a count of at most {limit} and a body", _REMEDY)
        return np.resize(body, int(values[0]))


def _forms(name: str, values: NDArray[np.int64]) -> list[Form]:
    forms: list[Form] = [
        {".".join((name, *chain)): column} for chain in _CHAINS[1:] if (column := _applied(chain, values)) is not None
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


def _digits(values: NDArray[np.int64] | NDArray[np.float64]) -> int:
    """Characters of the comma-separated list, without its brackets."""
    if len(values) == 0:
        return 0
    if values.dtype == np.float64:
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
