"""One line of a verification: what was checked, where, and both values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from commcanary.artifacts.canonical import canonical_json
from commcanary.judge.field_difference import first_difference

if TYPE_CHECKING:
    from collections.abc import Iterable

Value = str | int | float | None

PASS, FAIL = "pass", "fail"
NOT_CHECKABLE = "not_checkable"

_LONGEST = 100


class Check(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """``status`` is pass, fail or not_checkable; ``expected`` is recomputed, ``actual`` is what the file says.

    ``place`` names the row or field where the two first differ.
    """

    name: str
    status: str
    expected: Value = None
    actual: Value = None
    place: str | None = None

    @property
    def passed(self) -> bool:
        """Whether nothing speaks against the file here."""
        return self.status != FAIL


def equal(name: str, expected: Value, actual: Value, place: str | None = None) -> Check:
    """The check that a stated value is the recomputed one; values and place are kept where it is not."""
    if expected == actual and type(expected) is type(actual):
        return Check(name, PASS)
    return Check(name, FAIL, expected, actual, place or name)


def same(name: str, expected: object, actual: object) -> Check:
    """The check that a stated part of a document is the recomputed one; place and values of the first difference."""
    found = first_difference(name, expected, actual)
    if found is None:
        return Check(name, PASS)
    place, ours, stated = found
    return Check(name, FAIL, in_words(ours), in_words(stated), place)


def in_words(value: object) -> Value:
    """A value as it may stand in a check: numbers and short texts as they are, all else as short JSON."""
    if isinstance(value, str):
        return shortened(value)
    if isinstance(value, int | float | None):
        return value
    return shortened(canonical_json(value).decode())


def shortened(value: object) -> str:
    """The text of a value for one line: its beginning and its length where it is long."""
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({len(text):,} characters)"


def first_failure(checks: Iterable[Check]) -> Check | None:
    """The first check that failed, or None."""
    return next((check for check in checks if not check.passed), None)
