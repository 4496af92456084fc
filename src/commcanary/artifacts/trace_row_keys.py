"""The keys of exchange JSON: none twice in one object, unknown ones counted.

A trace can be long, so its objects are counted before they are read: a text has at least one colon per key, and
an object of n different keys at least n. Where both counts are equal no key stands twice; only where colons lie
in strings, or in objects of no known field, is the text itself read.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from commcanary.artifacts.jsontext import decode
from commcanary.artifacts.repeated_keys import check_keys
from commcanary.artifacts.trace_limits import MAX_UNKNOWN_KEYS, check_unknown_keys
from commcanary.artifacts.trace_row import Row

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROW_FIELDS = frozenset(Row.__struct_fields__)
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"\s*:|"[^"\\]*(?:\\.[^"\\]*)*"|[][{}]', re.DOTALL)
_Fields = dict[str, msgspec.Raw]


class RowKeys:
    """Reads the keys of one document whose own fields are ``known``; ``ignored`` counts the fields not known."""

    def __init__(self, known: frozenset[str]) -> None:
        self.ignored: Counter[str] = Counter()
        self._known = known
        self._colons = 0

    def add(self, texts: Sequence[bytes], rows: Sequence[Row], first: int) -> None:
        """Rows from ``first`` on as text and decoded; raises ``InputRefusal`` for a key given twice."""
        for index, (text, row) in enumerate(zip(texts, rows, strict=True), first):
            colons = text.count(b":")
            self._colons += colons
            keys = decode(text, _Fields, f"events[{index}]").keys()
            inside = _within(row.rank_arrival_us) + _within(row.rank_compute_before_us)
            if colons != len(keys) + inside:
                check_keys(text, f"events[{index}]")
            if not keys <= _ROW_FIELDS:
                self.ignored.update(keys - _ROW_FIELDS)
                check_unknown_keys(len(self.ignored), f"events[{index}]")

    def add_beside_events(self, data: bytes) -> None:
        """The rest of the document ``data`` once all rows are read."""
        if data.count(b":") - self._colons > MAX_UNKNOWN_KEYS:
            _check_key_count(data)
        fields = decode(data, _Fields)
        self.ignored.update(fields.keys() - self._known)
        colons = len(fields)
        for key, text in fields.items():
            if key != "events":
                value = bytes(text)
                colons += value.count(b":")
                check_keys(value, key)
        if colons + self._colons != data.count(b":"):
            check_keys(data)


def _check_key_count(data: bytes) -> None:
    """Raise ``InputRefusal`` where the document itself has far more keys than a trace knows, before it holds them."""
    depth = keys = 0
    for match in _TOKEN.finditer(data):
        token = match.group()
        if token in b"{[":
            depth += 1
        elif token in b"}]":
            depth -= 1
        elif depth == 1 and token.endswith(b":"):
            keys += 1
            check_unknown_keys(keys, "top level")


def _within(value: object) -> int:
    return len(value) if isinstance(value, dict) else 0
