"""Long JSON arrays cut between two elements, so that a slice can be decoded at a time.

Where an element ends need not be found by reading every byte: text from one true border to a guessed one is a
list of elements only if the guess is a true border as well, so decoding the slice proves the guess. Where
decoding fails, ``last_border`` reads the slice token by token, with strings and escapes tracked.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

SLICE_BYTES = 1 << 20
_SEARCH_BYTES = 1 << 16
_BETWEEN_OBJECTS = re.compile(rb"\}\s*(,)\s*\{")
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|["{}\[\],]', re.DOTALL)


def guessed_border(text: bytes | memoryview) -> int | None:
    """Position of the last comma near the end of ``text`` that may stand between two objects of the array."""
    found = None
    for match in _BETWEEN_OBJECTS.finditer(text, max(0, len(text) - _SEARCH_BYTES)):
        found = match.start(1)
    return found


def last_border(text: bytes | memoryview) -> tuple[int | None, bool]:
    """Position of the last comma between two elements in ``text``, and whether the array ends in it.

    ``text`` starts inside the array, between elements.
    """
    depth = 0
    border = None
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
            if depth < 0:
                return border, True
        elif token == b"," and depth == 0:
            border = match.start()
        elif token == b'"':
            break  # a string that the slice cuts
    return border, False


def array_slices(array: msgspec.Raw, slice_bytes: int = SLICE_BYTES) -> Iterator[list[msgspec.Raw]]:
    """The elements of a JSON array in their order, as texts: those of about ``slice_bytes`` at a time.

    ``array`` is valid JSON and an array; only a slice of it is ever copied.
    """
    inside = memoryview(array)[1:-1]
    start, size = 0, slice_bytes
    while len(inside) - start > size:
        text = inside[start : start + size]
        border = guessed_border(text)
        elements = None if border is None else _elements(text[:border])
        if elements is None:
            border, _ = last_border(text)
            if border is None:
                size *= 2  # a single element is longer
                continue
            elements = msgspec.json.decode(_array(text[:border]), type=list[msgspec.Raw])
        assert border is not None
        yield elements
        start, size = start + border + 1, slice_bytes
    yield msgspec.json.decode(_array(inside[start:]), type=list[msgspec.Raw])


def _elements(text: memoryview) -> list[msgspec.Raw] | None:
    try:
        return msgspec.json.decode(_array(text), type=list[msgspec.Raw])
    except msgspec.DecodeError:
        return None


def _array(text: memoryview) -> bytes:
    return b"".join((b"[", text, b"]"))
