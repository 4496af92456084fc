"""Encoded number columns (``number_codec``) read back, none longer than it may be."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from commcanary.artifacts.number_codec import CHAINS, NULL
from commcanary.artifacts.number_lists import decoded_array, fractions, list_length
from commcanary.errors import InputRefusal

_REMEDY = "write the file again with the stage that made it"


class EncodedColumns:
    """The encoded columns of one JSON document, taken out by name.

    Every column is asked for with the number of values that it may have at most (``limit``): a period or a
    run cannot ask for all the memory. Raises ``InputRefusal`` (from ``integers``, ``floats`` and ``finish``)
    naming the key that does not decode.
    """

    def __init__(self, place: str, columns: dict[str, msgspec.Raw]) -> None:
        self.place = place
        self.left = dict(columns)

    def has(self, name: str) -> bool:
        """Is the column there, in any form?"""
        return any(key == name or key.startswith(name + ".") for key in self.left)

    def integers(self, name: str, limit: int) -> NDArray[np.int64]:
        """The int64 column ``name``, ``NULL`` where missing."""
        if f"{name}.values" in self.left:
            key = f"{name}.values"
            return self._looked_up(self._whole(key, limit), name, limit)
        for chain in CHAINS:
            key = ".".join((name, *chain))
            if key in self.left:
                values = self._whole(key, limit)
                for step in reversed(chain):
                    values = self._undone(step, values, key, limit)
                return self._bounded(values, key, limit)
        raise InputRefusal(f"{self.place}.{name}", "is missing", _REMEDY)

    def floats(self, name: str, limit: int) -> NDArray[np.float64]:
        """The float64 column ``name``."""
        if name in self.left:
            return self._bounded(self._fractions(name, limit), name, limit)
        key = f"{name}.runs"
        if key in self.left:
            return self._run_lengths(key, limit)
        key = f"{name}.values"
        if key in self.left:
            return self._looked_up(self._fractions(key, limit), name, limit)
        raise InputRefusal(f"{self.place}.{name}", "is missing", _REMEDY)

    def finish(self) -> None:
        """Raise ``InputRefusal`` where a key is left that nothing read."""
        if self.left:
            raise InputRefusal(f"{self.place}.{min(self.left)}", "is not a column of this artifact", "remove it")

    def _whole(self, key: str, limit: int) -> NDArray[np.int64]:
        found = decoded_array(self._text(key, limit), _integers)
        if found is None:
            raise InputRefusal(f"{self.place}.{key}", "holds something else than whole 64-bit numbers", _REMEDY)
        return found

    def _fractions(self, key: str, limit: int) -> NDArray[np.float64]:
        found = decoded_array(self._text(key, limit), fractions)
        if found is None:
            raise InputRefusal(f"{self.place}.{key}", "holds something else than numbers", _REMEDY)
        return found

    def _text(self, key: str, limit: int) -> msgspec.Raw:
        """The text of a column that no form lets stand for more than ``limit`` values: at most pairs and a count."""
        text = self.left.pop(key)
        count = list_length(text)
        if count > 2 * limit + 1:
            raise InputRefusal(f"{self.place}.{key}", f"holds {count:,} numbers for at most {limit:,} values", _REMEDY)
        return text

    def _run_lengths(self, key: str, limit: int) -> NDArray[np.float64]:
        pairs = decoded_array(self._text(key, limit), _Pairs().converted)
        if pairs is None:
            raise InputRefusal(f"{self.place}.{key}", "holds something else than numbers", _REMEDY)
        return self._repeated(pairs[::2], pairs[1::2].astype(np.int64), key, limit)

    def _looked_up(self, values: NDArray[Any], name: str, limit: int) -> NDArray[Any]:
        index = self.integers(f"{name}.index", limit)
        if len(index) and (index.min() < 0 or index.max() >= len(values)):
            raise InputRefusal(f"{self.place}.{name}.index", f"points outside its {len(values)} values", _REMEDY)
        return values[index]

    def _bounded(self, values: NDArray[Any], key: str, limit: int) -> NDArray[Any]:
        if len(values) > limit:
            raise InputRefusal(f"{self.place}.{key}", f"has more than {limit} values", _REMEDY)
        return values

    def _undone(self, step: str, values: NDArray[np.int64], key: str, limit: int) -> NDArray[np.int64]:
        place = f"{self.place}.{key}"
        if step == "delta":
            # a float sum is never wrong by more than a factor: enough to see that the integers would wrap
            if (values == NULL).any() or np.abs(np.cumsum(values.astype(np.float64))).max(initial=0.0) > 2.0**62:
                raise InputRefusal(place, "does not add up to known 64-bit numbers", _REMEDY)
            return np.cumsum(values)
        if step == "runs":
            return self._repeated(values[::2], values[1::2], key, limit)
        body = values[1:]
        if len(body) == 0 or not 0 < values[0] <= limit:
            raise InputRefusal(place, f"is not a count of at most {limit} and a body", _REMEDY)
        return np.resize(body, int(values[0]))

    def _repeated(self, values: NDArray[Any], lengths: NDArray[np.int64], key: str, limit: int) -> NDArray[Any]:
        if len(values) != len(lengths) or (lengths < 1).any() or lengths.sum(dtype=np.float64) > limit:
            raise InputRefusal(
                f"{self.place}.{key}", f"is not pairs of value and length with at most {limit} values", _REMEDY
            )
        return np.repeat(values, lengths)


class _Pairs:
    """Fractions and whole numbers by turns, slice after slice: the lengths stand at the odd places."""

    def __init__(self) -> None:
        self._seen = 0

    def converted(self, given: list[Any]) -> NDArray[np.float64] | None:
        """float64 of a slice; None where a value is no number, or a length is none of 0 to 2^53."""
        lengths = given[1 - self._seen % 2 :: 2]
        self._seen += len(given)
        return fractions(given) if all(type(v) is int and 0 <= v <= 2**53 for v in lengths) else None


def _integers(given: list[Any]) -> NDArray[np.int64] | None:
    """int64 of JSON integers, ``NULL`` for null; None where one is something else."""
    whole = [NULL if v is None else v for v in given]
    if not all(type(v) is int and NULL <= v < 2**63 for v in whole) or NULL in given:
        return None
    return np.asarray(whole, np.int64)
