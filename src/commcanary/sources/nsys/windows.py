"""From a call to the kernels it launched: by the range, or the end of the group of calls, that the launch lies in.

Between ``ncclGroupStart`` and ``ncclGroupEnd`` calls are only collected; the end launches them, often as fewer kernels
than calls. So a window is one call's range, or one group's end, and kernels belong to windows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from commcanary.sources.nsys.database import UNKNOWN
from commcanary.sources.nsys.functions import GROUP_END, GROUP_START, is_operation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.sources.nsys.ranges import NcclRanges

    Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Windows:
    """Times [start, end] on a thread in which kernels of some calls were launched; columns are int64[w].

    ``of_range`` is int64[n]: the window of each range, -1 for ranges that launch nothing and for groups whose end
    was not captured. ``grouped`` says whether the window is a group's.
    """

    start: Ints
    end: Ints
    thread: Ints
    grouped: NDArray[np.bool_]
    of_range: Ints

    def containing(self, thread: Ints, time: Ints) -> Ints:
        """int64[n]: the window that each point lies in, -1 for none."""
        result = np.full(len(time), UNKNOWN, np.int64)
        for number in np.unique(self.thread):
            mine = np.flatnonzero(self.thread == number)
            mine = mine[np.argsort(self.start[mine], kind="stable")]
            points = np.flatnonzero(thread == number)
            at = np.searchsorted(self.start[mine], time[points], side="right") - 1
            inside = (at >= 0) & (time[points] <= self.end[mine[np.maximum(at, 0)]])
            result[points[inside]] = mine[at[inside]]
        return result


def launch_windows(ranges: NcclRanges) -> Windows:
    """The windows of ``ranges``. Groups may nest; the outermost end launches."""
    of_range = np.full(len(ranges), UNKNOWN, np.int64)
    rows: list[tuple[int, int, int, bool]] = []
    depth: dict[int, int] = {}
    waiting: dict[int, list[int]] = {}
    columns = (ranges.thread.tolist(), ranges.start.tolist(), ranges.end.tolist())
    for i, (name, thread, start, end) in enumerate(zip(ranges.name, *columns, strict=True)):
        if name == GROUP_START:
            depth[thread] = depth.get(thread, 0) + 1
        elif name == GROUP_END:
            depth[thread] = max(depth.get(thread, 0) - 1, 0)
            if not depth[thread]:
                for call in waiting.pop(thread, []):
                    of_range[call] = len(rows)
                rows.append((start, end, thread, True))
        elif is_operation(name):
            if depth.get(thread, 0):
                waiting.setdefault(thread, []).append(i)
            else:
                of_range[i] = len(rows)
                rows.append((start, end, thread, False))
    table = np.asarray([row[:3] for row in rows], np.int64).reshape(len(rows), 3)
    grouped = np.asarray([row[3] for row in rows], np.bool_)
    return Windows(table[:, 0], table[:, 1], table[:, 2], grouped, of_range)
