"""Long JSON lists of numbers, decoded a slice at a time: a Python number takes ten times what its digits do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from commcanary.artifacts.header_parts import PartLimit, check_part
from commcanary.artifacts.jsontext import decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

_SLICE_BYTES = 1 << 18
_MOST_COLUMNS = 256


def decoded_array(text: msgspec.Raw, convert: Callable[[list[Any]], NDArray[Any] | None]) -> NDArray[Any] | None:
    """The JSON list ``text`` as an array: each slice turned by ``convert``, None where one of them is refused.

    ``text`` is valid JSON. A value that is no list of scalars gives None too.
    """
    found: NDArray[Any] | None = None
    filled = 0
    digits = bytes(text)
    try:
        for values in _slices(digits):
            part = convert(values)
            if part is None:
                return None
            if found is None:
                # whole at once: joined from parts it would be held twice
                found = np.empty(digits.count(b",") + 1 if len(part) else 0, part.dtype)
            if filled + len(part) > len(found):
                return None
            found[filled : filled + len(part)] = part
            filled += len(part)
    except msgspec.DecodeError:
        return None
    return found if found is not None and filled == len(found) else None


def fractions(given: list[Any]) -> NDArray[np.float64] | None:
    """float64 of JSON numbers; None where one is something else."""
    if not all(type(v) is float or (type(v) is int and abs(v) < 2**63) for v in given):
        return None
    return np.asarray(given, np.float64)


def named_lists(text: msgspec.Raw, place: str) -> dict[str, msgspec.Raw]:
    """The texts of the columns of a JSON object, by name; raises ``InputRefusal`` where it has far too many."""
    check_part(text, place, PartLimit(_MOST_COLUMNS, "columns", b":"))
    return decode(text, dict[str, msgspec.Raw], place)


def list_length(text: msgspec.Raw) -> int:
    """Values of a JSON list of numbers, from its text alone; 1 for an empty list."""
    return bytes(text).count(b",") + 1


def _slices(text: bytes) -> Iterator[list[Any]]:
    start, end = 0, 0
    text = text.strip()
    if text[:1] != b"[":
        raise msgspec.DecodeError("not a list")
    inside = memoryview(text)[1:-1]
    while end < len(inside):
        comma = text.find(b",", 1 + start + _SLICE_BYTES)
        end = len(inside) if comma < 0 else comma - 1
        yield msgspec.json.decode(b"[" + bytes(inside[start:end]) + b"]", type=list[Any])
        start = end + 1
    if not len(inside):
        yield []
