"""Do two result files say the same? Equal bytes, or equal values up to the last bits of a logarithm.

Machines may differ in the last bit of a logarithm, so numbers that were made elsewhere may differ by less than
0.000001 us, and with them what hashes them: a document's own content id, a report's digest of its samples.
Everything else must be equal to the byte.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from commcanary.artifacts.files import read_artifact, read_bytes
from commcanary.artifacts.jsontext import decode
from commcanary.replay.report import REPORT

if TYPE_CHECKING:
    from pathlib import Path

ABSOLUTE, RELATIVE = 1e-6, 1e-9


def difference(expected: Path, actual: Path) -> str | None:
    """Where the file ``actual`` first says something else than ``expected``, None where nowhere.

    Raises ``Refusal`` for a file that cannot be read as what its name says.
    """
    left, right = read_bytes(expected), read_bytes(actual)
    if left == right:
        return None
    if actual.suffix == ".json":
        return _documents(decode(left, Any), decode(right, Any), "content_id")
    if actual.suffix == ".parquet" and actual.parent.name == "reports":
        return _reports(expected, actual)
    if actual.suffix == ".parquet":
        return "other bytes"
    return _line(left.decode(), right.decode("utf-8", "replace"))


def _documents(expected: Any, actual: Any, digest: str) -> str | None:
    """The first difference; ``digest`` may differ only where some number does by a last bit."""
    walk = _Walk(digest)
    found = walk.first(expected, actual, "")
    if found is None and not walk.nearly:
        return f"{digest}: does not follow from the content"
    return found


def _reports(expected: Path, actual: Path) -> str | None:
    left, right = read_artifact(expected, REPORT), read_artifact(actual, REPORT)
    assert left.table is not None
    if right.table is None or right.table.num_rows != left.table.num_rows:
        return f"samples: {left.table.num_rows} rows are not {right.table.num_rows if right.table else 'there'}"
    for name in left.table.column_names:
        ours, theirs = np.asarray(left.table.column(name)), np.asarray(right.table.column(name))
        apart = np.flatnonzero(~np.isclose(theirs, ours, rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True))
        if len(apart):
            row = int(apart[0])
            return f"{name}[{row}]: {ours[row]} is not {theirs[row]}"
    walk = _Walk("samples_digest")
    return walk.first(msgspec.to_builtins(left.header), msgspec.to_builtins(right.header), "")


@dataclass
class _Walk:
    """Two plain documents side by side; ``nearly`` says whether some number differed by less than is told."""

    digest: str
    nearly: bool = False

    def first(self, expected: Any, actual: Any, place: str) -> str | None:
        if isinstance(expected, dict) and isinstance(actual, dict):
            return self._keys(expected, actual, place)
        if isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
            if len(expected) != len(actual):
                return f"{place}: {len(expected)} rows are not {len(actual)}"
            pairs = enumerate(zip(expected, actual, strict=True))
            return next((found for i, pair in pairs if (found := self.first(*pair, f"{place}[{i}]"))), None)
        if expected == actual and type(expected) is type(actual):
            return None
        numbers = isinstance(expected, float) and isinstance(actual, float)
        if numbers and math.isclose(expected, actual, rel_tol=RELATIVE, abs_tol=ABSOLUTE):
            self.nearly = True
            return None
        return f"{place}: {expected} is not {actual}"

    def _keys(self, expected: dict[str, Any], actual: dict[str, Any], place: str) -> str | None:
        for key in dict.fromkeys((*expected, *actual)):
            if key not in expected or key not in actual:
                return f"{place}.{key}: {'not' if key not in expected else 'only'} there when derived".lstrip(".")
            if place or key != self.digest:
                found = self.first(expected[key], actual[key], f"{place}.{key}" if place else key)
                if found:
                    return found
        return None


def _line(expected: str, actual: str) -> str:
    left, right = expected.splitlines(), actual.splitlines()
    pairs = zip(left, right, strict=False)
    number = next((n for n, (a, b) in enumerate(pairs, start=1) if a != b), min(len(left), len(right)) + 1)
    return f"line {number}"
