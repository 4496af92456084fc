"""Printing the checks of a verification."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.cli.say import say
from commcanary.judge.checks import NOT_CHECKABLE, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commcanary.judge.checks import Check


def print_checks(checks: Iterable[Check]) -> None:
    """One line a check; one that did not pass says where, what was expected and what was found."""
    for check in checks:
        line = f"- {check.name}: {check.status}"
        if not check.passed:
            line += f" at {check.place}: expected {shortened(check.expected)}, found {shortened(check.actual)}"
        elif check.status == NOT_CHECKABLE and check.place:
            line += f" ({check.place})"
        say(line)
