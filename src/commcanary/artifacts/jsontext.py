"""Decoding JSON text into typed documents, with refusals that say where and what."""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec

from commcanary.errors import InputRefusal

T = TypeVar("T")

_MALFORMED = re.compile(r"JSON is malformed: (?P<what>.*) \(byte (?P<byte>\d+)\)")
_AT = re.compile(r"(?P<what>.*?) - at (?P<key>`key` in )?`\$\.?(?P<where>.*)`\Z")


def decode(data: bytes, kind: type[T], under: str = "") -> T:
    """Decode UTF-8 JSON ``data`` as ``kind``; ``under`` is the place of the whole text in its document.

    Raises ``InputRefusal`` naming the line and column of malformed text, or the path of a wrong value.
    """
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        raise refusal_of(error, under) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _malformed(str(error), data) from error


def convert(value: Any, kind: type[T]) -> T:
    """Turn plain data into ``kind``; raises ``InputRefusal`` with the path of the first wrong value."""
    try:
        return msgspec.convert(value, type=kind, strict=True)
    except msgspec.ValidationError as error:
        raise refusal_of(error) from error


def refusal_of(error: msgspec.ValidationError, under: str = "") -> InputRefusal:
    """The refusal that says what msgspec found at which path below ``under``."""
    match = _AT.match(str(error))
    if match is None:
        return InputRefusal(under or "top level", str(error), "correct the value")
    where = match["where"] + ("[key]" if match["key"] else "")
    if under:
        where = under + (where if where.startswith("[") or not where else f".{where}")
    return InputRefusal(where or "top level", match["what"], "correct the value")


def _malformed(message: str, data: bytes) -> InputRefusal:
    if "truncated" in message:
        return InputRefusal(
            _line_and_column(data, len(data)), "the JSON text ends too early", "copy or export the file again"
        )
    match = _MALFORMED.match(message)
    if match is None:
        return InputRefusal("text", message, "give one UTF-8 JSON document")
    place = _line_and_column(data, int(match["byte"]))
    return InputRefusal(place, f"not valid JSON ({match['what']})", "correct the text there or export the file again")


def _line_and_column(data: bytes, offset: int) -> str:
    before = data[:offset]
    line = before.count(b"\n") + 1
    column = offset - before.rfind(b"\n")
    return f"line {line} column {column}"
