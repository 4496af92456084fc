"""Which operation a communication kernel runs: by its call, its name, the ranges that launched it, the job's marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.sources.kineto.operations import annotated_operation, kernel_operation
from commcanary.sources.nsys.database import UNKNOWN
from commcanary.sources.nsys.functions import OPERATIONS
from commcanary.timeline.kernels import Lane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from commcanary.sources.nsys.device_rows import DeviceRows
    from commcanary.sources.nsys.ranges import NcclRanges
    from commcanary.sources.nsys.windows import Windows
    from commcanary.timeline.rank_timeline import Calls

    Ints = NDArray[np.int64]

UNKNOWN_KIND = "unknown"


def numbered(count: int, rows: Ints, words: Sequence[str]) -> tuple[Ints, tuple[str, ...]]:
    """int64[count] with the number of each row's word, -1 for no word and for other rows; and the words."""
    table: dict[str, int] = {}
    number = np.full(count, UNKNOWN, np.int64)
    number[rows] = [table.setdefault(word, len(table)) if word else UNKNOWN for word in words]
    return number, tuple(table)


def kinds_of(
    rows: DeviceRows,
    ranges: NcclRanges | None,
    windows: Windows | None,
    held: Ints,
    marks: dict[int, tuple[str, ...]],
    of_calls: dict[int, str],
) -> tuple[Ints, tuple[str, ...]]:
    """Operation of each communication kernel: its call's, its name's, or that of the ranges that launched it.

    ``of_calls`` are operations by row where one call is known, ``marks`` the job's ranges around launches. Groups of
    messages are what the framework's own range around them says (``nccl:all_to_all``), else messages.
    """
    of_window: dict[int, set[str]] = {}
    if ranges is not None and windows is not None:
        for name, window in zip(ranges.name, windows.of_range.tolist(), strict=True):
            if window != UNKNOWN and name in OPERATIONS:
                of_window.setdefault(window, set()).add(OPERATIONS[name].op)
    words: list[str] = []
    chosen = np.flatnonzero(rows.lane == Lane.COMMUNICATION)
    for row in chosen.tolist():
        stated = of_calls.get(row) or kernel_operation(rows.names[int(rows.name[row])])
        if stated is None:
            marked = [op[1] for name in marks.get(row, ()) if (op := annotated_operation(name)) is not None]
            called = of_window.get(int(held[row]), set())
            if len(called) == 1 and not called & {"send", "recv"}:
                (stated,) = called
            elif marked:
                stated = marked[-1]
            elif called and called <= {"send", "recv"}:
                stated = "point_to_point"
        words.append(stated or UNKNOWN_KIND)
    return numbered(len(rows.start), chosen, words)


def operations_of(read: dict[int, tuple[Calls | None, Ints]]) -> dict[int, str]:
    """Operation by row where one call launched it."""
    found: dict[int, str] = {}
    for calls, behind in read.values():
        if calls is not None:
            for row in np.flatnonzero(behind != UNKNOWN).tolist():
                found[row] = calls.signatures[int(calls.signature[behind[row]])].op
    return found
