"""Keys that stand twice in one JSON object: legal JSON, and a way to show one reader one value and another a second.

In this project's own files they are refused. Decoders keep the last one silently, so the text itself is read:
strings and brackets only, whatever lies between them.
"""

from __future__ import annotations

import json
import re
from typing import Any

from commcanary.errors import InputRefusal

_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[][{}]', re.DOTALL)
_OPENING = b"{["


def check_keys(data: bytes, under: str = "") -> None:
    """Raise ``InputRefusal`` naming the first key that its object has already, and where that object is.

    ``data`` is valid JSON; ``under`` is the place of the whole text in its document.
    """
    if _surely_none(data):
        return
    # one entry per open bracket: keys so far (None in an array) and what stands open inside it
    keys: list[set[str] | None] = []
    inside: list[str | int] = []
    for token in _TOKEN.finditer(data):
        text = token.group()
        first = text[0]
        if first in _OPENING:
            if keys and keys[-1] is None:
                inside[-1] = int(inside[-1]) + 1
            keys.append(set() if first == _OPENING[0] else None)
            inside.append(-1 if keys[-1] is None else "")
        elif first != ord('"'):
            keys.pop()
            inside.pop()
        elif token.group(1) is not None:
            key = _key(text)
            known = keys[-1]
            if known is not None and key in known:
                raise InputRefusal(
                    _place(under, inside[:-1], key),
                    f"the key {key!r} is given twice in one object",
                    "keep one of the two",
                )
            if known is not None:
                known.add(key)
            inside[-1] = key


def _surely_none(data: bytes) -> bool:
    """No more than one colon: there are no two keys."""
    return data.count(b":") < 2


def _key(text: bytes) -> str:
    literal = text[: text.rindex(b'"') + 1]
    if b"\\" in literal:
        return str(json.loads(literal))
    return literal[1:-1].decode("utf-8", "replace")


def _place(under: str, inside: list[str | int], key: str) -> str:
    place = under
    steps: list[Any] = [*inside, key]
    for step in steps:
        place += f"[{step}]" if isinstance(step, int) else (f".{step}" if place else step)
    return place[-200:]
