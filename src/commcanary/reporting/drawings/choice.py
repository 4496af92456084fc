"""Which rows a panel shows where there are too many to read."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LIMIT = 30
T = TypeVar("T")


def most(rows: Sequence[T], key: Callable[[T], float]) -> tuple[tuple[T, ...], str]:
    """The ``LIMIT`` rows of largest ``key`` in their own order, and a note that says so where some are left out."""
    if len(rows) <= LIMIT:
        return tuple(rows), ""
    largest = set(sorted(range(len(rows)), key=lambda index: (-key(rows[index]), index))[:LIMIT])
    return tuple(row for index, row in enumerate(rows) if index in largest), f" (the {LIMIT} largest of {len(rows)})"
