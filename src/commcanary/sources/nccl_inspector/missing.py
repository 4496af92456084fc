"""Numbers that have no record: how many, in which ranges, and how they are told."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from commcanary.artifacts.trace import Coverage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from commcanary.sources.nccl_inspector.numbering import Program

    Ints = NDArray[np.int64]

WHY = "too small, overwritten in the ring, or not timed on the GPU"
_SHOWN = 6


class Missing(NamedTuple):
    """How many numbers are missing, and the first and last of each range of them."""

    total: int
    ranges: tuple[tuple[int, int], ...]


def missing_in(numbers: Ints, first: int, last: int) -> Missing:
    """How many of ``first`` to ``last`` are not among the sorted ``numbers``, and in which ranges they lie."""
    edges = np.concatenate([[first - 1], numbers, [last + 1]])
    after = np.flatnonzero(np.diff(edges) > 1)
    ranges = tuple((int(edges[at]) + 1, int(edges[at + 1]) - 1) for at in after.tolist())
    return Missing(sum(high - low + 1 for low, high in ranges), ranges)


def ranges_of(numbers: Ints) -> list[tuple[int, int]]:
    """The sorted ``numbers`` as ranges of ones that follow each other."""
    ends = np.flatnonzero(np.diff(numbers) > 1)
    begins = np.concatenate([[0], ends + 1])
    ends = np.concatenate([ends, [len(numbers) - 1]])
    return [(int(numbers[low]), int(numbers[high])) for low, high in zip(begins, ends, strict=True)]


def shown(ranges: Sequence[tuple[int, int]]) -> str:
    """``1, 3 to 5``, of many only the first ranges."""
    text = ", ".join(str(low) if low == high else f"{low} to {high}" for low, high in ranges[:_SHOWN])
    return text + (f" and {len(ranges) - _SHOWN} more ranges" if len(ranges) > _SHOWN else "")


def coverage_row_of(rank: int, program: Program, gap: Missing) -> Coverage:
    """The row of the account for what one rank lacks: calls of which nothing else is known."""
    rule = f"{program.name} without a record"
    return Coverage(rank, rule, gap.total, 0, unknown=gap.total, reason=_where(program, gap.ranges))


def missing_told(program: Program, missing: dict[int, Missing], all_calls: int) -> list[str]:
    """One line for each set of missing numbers, naming the ranks that it is missing on."""
    ranks_of: dict[Missing, list[int]] = defaultdict(list)
    for rank, gap in missing.items():
        ranks_of[gap].append(rank)
    of = "" if program.messages else f" of {all_calls}"
    return [
        f"{_ranks(ranks)}: no record of {gap.total}{of} x {program.name}: {_where(program, gap.ranges)}"
        for gap, ranks in ranks_of.items()
    ]


def _where(program: Program, ranges: Sequence[tuple[int, int]]) -> str:
    return f"communicator {program.communicator}: {program.counter} {shown(ranges)}: {WHY}"


def _ranks(ranks: Sequence[int]) -> str:
    shown = ", ".join(map(str, ranks[:8])) + (", ..." if len(ranks) > 8 else "")
    return f"{'rank' if len(ranks) == 1 else 'ranks'} {shown}"
