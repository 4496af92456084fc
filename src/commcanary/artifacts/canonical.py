"""Canonical JSON: the one byte form that is hashed, measured and written.

UTF-8, keys sorted, no spaces, non-ASCII escaped, shortest-repr floats (``1.0``, ``0.474``), NaN and
infinities refused.
"""

from __future__ import annotations

import json

import msgspec

from commcanary.errors import InputRefusal


def plain(value: object) -> object:
    """``value`` with typed documents turned into dicts, lists, strings, numbers and None."""
    return msgspec.to_builtins(value)


def canonical_json(value: object) -> bytes:
    """The canonical bytes of a typed document or of plain JSON data.

    Raises ``InputRefusal`` for NaN and infinities.
    """
    try:
        # typed parts are made plain one by one: all at once they would be held twice
        return json.dumps(
            value, default=plain, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
        ).encode("ascii")
    except ValueError as error:
        raise InputRefusal("document", "a number is NaN or infinite", "give finite numbers only") from error
