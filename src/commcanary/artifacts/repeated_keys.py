"""Keys that stand twice in one JSON object: legal JSON, and a way to show one reader one value and another a second.

In this project's own files they are refused. Decoders keep the last one silently, so the text itself is read:
strings and brackets only, whatever lies between them. An object that holds no other is looked at as a whole, which is
twice as fast on documents of many small ones.
"""

from __future__ import annotations

import json
import re

from commcanary.errors import InputRefusal

_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_TOKEN = re.compile(_STRING + rb"(\s*:)?|[][{}]", re.DOTALL)
_FLAT = rb"\{(?:[^][{}\"]++|" + _STRING + rb"){0,4000}+\}"
_TOKEN_OR_FLAT = re.compile(_FLAT + rb"|" + _TOKEN.pattern, re.DOTALL)
_STRINGS = re.compile(rb"(" + _STRING + rb")(\s*:)?", re.DOTALL)
_OPENING = b"{["
MAX_KEYS = 2**20
"""Keys of one object."""


def check_keys(data: bytes, under: str = "") -> None:
    """Raise ``InputRefusal`` naming the first key that its object has already, and where that object is.

    ``data`` is valid JSON; ``under`` is the place of the whole text in its document.
    """
    if not _surely_none(data):
        _check(data, under, _TOKEN_OR_FLAT)


def _check(data: bytes, under: str, tokens: re.Pattern[bytes]) -> None:
    # one entry per open bracket: keys so far (None in an array) and what stands open inside it
    keys: list[set[str] | None] = []
    inside: list[str | int] = []
    for token in tokens.finditer(data):
        text = token.group()
        first = text[0]
        if first in _OPENING:
            if keys and keys[-1] is None:
                inside[-1] = int(inside[-1]) + 1
            if len(text) > 1:
                if not _surely_different(text):
                    _check(text, _place(under, inside), _TOKEN)
                continue
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
                    _place(under, [*inside[:-1], key]),
                    f"the key {key!r} is given twice in one object",
                    "keep one of the two",
                )
            if known is not None:
                known.add(key)
                if len(known) > MAX_KEYS:
                    raise InputRefusal(
                        _place(under, [*inside[:-1], key]),
                        f"is key {len(known):,} of one object",
                        f"at most {MAX_KEYS:,}",
                    )
            inside[-1] = key


def _surely_none(data: bytes) -> bool:
    """No more than one colon: there are no two keys."""
    return data.count(b":") < 2


def _surely_different(flat: bytes) -> bool:
    """The keys of an object that holds no other are different as they are spelt, and no spelling has an escape."""
    if b"\\" in flat:
        return False
    keys = [text for text, colon in _STRINGS.findall(flat) if colon]
    return len(set(keys)) == len(keys)


def _key(text: bytes) -> str:
    literal = text[: text.rindex(b'"') + 1]
    if b"\\" in literal:
        return str(json.loads(literal))
    return literal[1:-1].decode("utf-8", "replace")


def _place(under: str, inside: list[str | int]) -> str:
    place = under
    for step in inside:
        place += f"[{step}]" if isinstance(step, int) else (f".{step}" if place else step)
    return place[-200:]
