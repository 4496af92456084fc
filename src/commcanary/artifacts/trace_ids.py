"""Names of rows. A row needs one only where another row's ``consumed_by`` points at it.

An id that says nothing but the row's own position (``#7`` on row 7) is a made-up one: a trace does not hold
it, the exchange JSON writes it where a consumer must be named, and a reader drops it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.events import UNKNOWN
from commcanary.errors import InputRefusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from commcanary.artifacts.trace import Trace

Ids = tuple[str | None, ...]


def given_ids(ids: Sequence[str | None] | None) -> Ids | None:
    """The ids without made-up ones; None where no row has any."""
    if ids is None:
        return None
    kept = tuple(None if _is_made_up(name, index) else name for index, name in enumerate(ids))
    return None if all(name is None for name in kept) else kept


def written_ids(trace: Trace) -> dict[int, str]:
    """The id that each row has in the exchange JSON, by row: its own, or a made-up one where it is consumed."""
    written = {} if trace.ids is None else {i: name for i, name in enumerate(trace.ids) if name is not None}
    taken = set(written.values())
    for index in _consumed(trace.events.consumer):
        if index not in written:
            name = f"#{index}"
            while name in taken:
                name = f"#{name}"
            written[index] = name
    return written


def check_ids(ids: Ids | None, consumer: NDArray[np.int64]) -> None:
    """Raise ``InputRefusal`` where the id of a consumed row stands on another row too."""
    if ids is None:
        return
    named = {ids[index] for index in _consumed(consumer)} - {None}
    seen: set[str] = set()
    for row, name in enumerate(ids):
        if name is not None and name in named:
            if name in seen:
                raise used_twice(row, name)
            seen.add(name)


def used_twice(row: int, name: str) -> InputRefusal:
    """The refusal of an id that does not say which row it means."""
    return InputRefusal(f"events[{row}].id", f"{name!r} is used twice and named by consumed_by", "make ids unique")


def _consumed(consumer: NDArray[np.int64]) -> list[int]:
    return [int(index) for index in np.unique(consumer[consumer != UNKNOWN])]


def _is_made_up(name: str | None, index: int) -> bool:
    return name is not None and name.startswith("#") and name.lstrip("#") == str(index)
