"""One line of a verification: what was checked, where, and both values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

Value = str | int | float | None

PASS, FAIL = "pass", "fail"
NOT_CHECKABLE = "not_checkable"


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


def first_failure(checks: Iterable[Check]) -> Check | None:
    """The first check that failed, or None."""
    return next((check for check in checks if not check.passed), None)
