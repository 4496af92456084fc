"""Schedules of many runs, gathered run by run, with the critical path of each walked back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.replay.kernel_path import walk_back
from commcanary.replay.schedule import Schedule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.replay.closed_loop_program import ClosedLoopProgram
    from commcanary.replay.closed_loop_run import Outcome

Path = tuple["NDArray[np.int64]", "NDArray[np.bool_]", "NDArray[np.int64]"]


class ScheduleColumns:
    """Collects the outcome of each run of one program."""

    def __init__(self, program: ClosedLoopProgram) -> None:
        self._program = program
        self._makespans: list[int] = []
        self._busy: list[NDArray[np.int64]] = []
        self._exposed: list[NDArray[np.int64]] = []
        self._paths: list[Path] = []

    def add(self, outcome: Outcome) -> None:
        """Take in one run."""
        makespan = int(outcome.free.max(initial=0))
        self._makespans.append(makespan)
        self._busy.append(outcome.busy)
        self._exposed.append(outcome.exposed)
        self._paths.append(_critical_path(self._program, outcome, makespan))

    def collected(self) -> Schedule:
        """The schedule of all runs taken in, in their order."""
        runs, ranks = len(self._makespans), len(self._program.ranks)
        makespan = np.array(self._makespans, dtype=np.int64)
        busy = np.array(self._busy, dtype=np.int64).reshape(runs, ranks)
        exposed = np.array(self._exposed, dtype=np.int64).reshape(runs, ranks)
        lengths = [len(rank) for rank, _, _ in self._paths]
        rank, communication, ns = (np.concatenate(column) for column in zip(*self._paths, strict=True))
        return Schedule(
            ranks=self._program.ranks,
            makespan_ns=makespan,
            busy_ns=busy,
            exposed_ns=exposed,
            idle_ns=makespan[:, None] - busy - exposed,
            path_bounds=np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)]),
            path_rank=rank,
            path_communication=communication,
            path_ns=ns,
        )


def _critical_path(program: ClosedLoopProgram, outcome: Outcome, makespan: int) -> Path:
    """Segments from time 0 on, with global ranks."""
    most = 2 * len(program.order) + 1
    rank, communication, ns = np.empty(most, np.int32), np.empty(most, np.bool_), np.empty(most, np.int64)
    count = 0
    if len(program.ranks):
        smallest = np.array(
            [
                program.members[begin:end].min(initial=np.iinfo(np.int32).max)
                for begin, end in zip(program.member_bounds[:-1], program.member_bounds[1:], strict=True)
            ],
            dtype=np.int32,
        )
        count = walk_back(
            int(outcome.free.argmax()),
            makespan,
            outcome.rank_cause,
            outcome.start,
            outcome.completion,
            outcome.bound_rank,
            outcome.cause,
            smallest,
            program.signature,
            rank,
            communication,
            ns,
        )
    backwards = slice(count - 1, None, -1) if count else slice(0, 0)
    return program.ranks[rank[backwards]], communication[backwards].copy(), ns[backwards].copy()
