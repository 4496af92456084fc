"""Do two result files say the same? Equal bytes, or equal values up to the last bits of a logarithm.

Machines may differ in the last bit of a logarithm, so samples of reports that were made elsewhere may differ by less
than 0.000001 us, and with them the numbers that follow from samples (``FROM_SAMPLES``) and what hashes both: a
document's own content id, a report's digest of its samples. Everything else must be equal to the byte. A file is
read as what it says it is before its values are looked at: one that does not hash to its content id, or has a key
twice, says nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from commcanary.artifacts.files import json_bytes, read_artifact, read_bytes
from commcanary.compile.search_ledger import SEARCH_LEDGER
from commcanary.judge.ablation import ABLATION_COSTS
from commcanary.judge.behavior import BEHAVIOR
from commcanary.judge.comparison import COMPARISON
from commcanary.judge.null_calibration import NULL_CALIBRATION
from commcanary.judge.policy import POLICY_OUTCOME
from commcanary.judge.statistics import DECISIONS
from commcanary.replay.report import REPORT
from commcanary.stages.kinds import kind_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

ABSOLUTE, RELATIVE = 1e-6, 1e-9

FROM_SAMPLES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        REPORT.format: frozenset({"metrics", "queue_wait", "by_phase", "by_op", "calibration", "schedule"}),
        COMPARISON.format: frozenset({"delta", "evaluations", "confidence", "stability"}),
        BEHAVIOR.format: frozenset({"configurations", "ranking", "held_out"}),
        DECISIONS.format: frozenset({"decisions", "agreement", "agreement_low", "agreement_high"}),
        POLICY_OUTCOME.format: frozenset({"found"}),
        ABLATION_COSTS.format: frozenset({"costs"}),
        NULL_CALIBRATION.format: frozenset({"gates"}),
        SEARCH_LEDGER.format: frozenset({"candidates"}),
    }
)
"""Format -> fields whose numbers follow from samples. All others are settings, names, identities and counts."""


def difference(expected: Path, actual: Path) -> str | None:
    """Where the file ``actual`` first says something else than ``expected``, None where nowhere.

    Raises ``Refusal`` for a file that cannot be read as what its name says.
    """
    left, right = read_bytes(expected), read_bytes(actual)
    if left == right:
        return None
    if actual.suffix == ".json" and left.startswith(b"{"):
        return _documents(expected, actual, right)
    if actual.suffix == ".parquet" and actual.parent.name == "reports":
        return _reports(expected, actual)
    if actual.suffix == ".parquet":
        return "other bytes"
    return _line(left.decode(), right.decode("utf-8", "replace"))


def _documents(expected: Path, actual: Path, written: bytes) -> str | None:
    kind = kind_of(expected)
    left, right = read_artifact(expected, kind), read_artifact(actual, kind)
    walk = _Walk(FROM_SAMPLES.get(kind.format, frozenset()))
    found = walk.first(msgspec.to_builtins(left.header), msgspec.to_builtins(right.header))
    if found is None and (not walk.nearly or json_bytes(kind, right) + b"\n" != written):
        return "other bytes"
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
    if right.header.samples_digest != right.table_digest:
        return "samples_digest: does not follow from the samples"
    walk = _Walk(FROM_SAMPLES[REPORT.format], hashed="samples_digest")
    found = walk.first(msgspec.to_builtins(left.header), msgspec.to_builtins(right.header))
    return "other bytes" if found is None and left.content_id == right.content_id else found


@dataclass
class _Walk:
    """Two plain documents side by side; only below the fields ``near`` may numbers differ by less than is told.

    ``nearly`` says whether some did; the field ``hashed`` is not compared.
    """

    near: Collection[str]
    hashed: str | None = None
    nearly: bool = False

    def first(self, expected: Any, actual: Any, place: str = "", *, near: bool = False) -> str | None:
        if isinstance(expected, dict) and isinstance(actual, dict):
            return self._keys(expected, actual, place, near=near)
        if isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
            if len(expected) != len(actual):
                return f"{place}: {len(expected)} rows are not {len(actual)}"
            pairs = enumerate(zip(expected, actual, strict=True))
            return next((found for i, pair in pairs if (found := self.first(*pair, f"{place}[{i}]", near=near))), None)
        if expected == actual and type(expected) is type(actual):
            return None
        numbers = near and isinstance(expected, float) and isinstance(actual, float)
        if numbers and math.isclose(expected, actual, rel_tol=RELATIVE, abs_tol=ABSOLUTE):
            self.nearly = True
            return None
        return f"{place}: {expected} is not {actual}"

    def _keys(self, expected: dict[str, Any], actual: dict[str, Any], place: str, *, near: bool) -> str | None:
        for key in dict.fromkeys((*expected, *actual)):
            if key not in expected or key not in actual:
                return f"{place}.{key}: {'not' if key not in expected else 'only'} there when derived".lstrip(".")
            if place or key != self.hashed:
                where = f"{place}.{key}" if place else key
                found = self.first(expected[key], actual[key], where, near=near or (not place and key in self.near))
                if found:
                    return found
        return None


def _line(expected: str, actual: str) -> str:
    left, right = expected.splitlines(), actual.splitlines()
    pairs = zip(left, right, strict=False)
    number = next((n for n, (a, b) in enumerate(pairs, start=1) if a != b), min(len(left), len(right)) + 1)
    return f"line {number}"
