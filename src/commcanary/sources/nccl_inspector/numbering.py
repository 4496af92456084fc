"""Records by the numbers that NCCL and the plugin give them: which every rank has, and which are missing where.

NCCL counts the calls of each operation on a communicator from 0, on all its ranks alike (``comm->seqNumber[func]`` in
``src/plugin/profiler.cc``), whether they are recorded or not. So records of different ranks are paired by communicator,
operation and number, and a number without a record is a collective that ran and was not recorded: it is smaller than
``NCCL_INSPECTOR_DUMP_MIN_SIZE_BYTES`` (8,192 unless set), its record was overwritten in the ring before a dump, or the
GPU gave no time for it. Messages are counted by the plugin, for each process by itself and from 1, so those of
two ranks can only be paired in order, and only where none is missing.

A collective that some ranks recorded and others did not is left out and told. Kept, it would have a place in the order
of ranks that never stated one, and their sizes would be taken on trust, which is what pairing is there to check.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from commcanary.artifacts.trace import Coverage
from commcanary.errors import InputRefusal
from commcanary.sources.nccl_inspector.missing import (
    Missing,
    coverage_row_of,
    missing_in,
    missing_told,
    ranges_of,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from commcanary.sources.calls.seating import Seating
    from commcanary.sources.nccl_inspector.rank_records import RankRecords

    Ints = NDArray[np.int64]

ALL_MESSAGES = "Send and Recv"


class Program(NamedTuple):
    """Calls that are counted together: one operation on one communicator, or all messages on it."""

    communicator: str
    name: str

    @property
    def messages(self) -> bool:
        """Whether it is that of the messages."""
        return self.name == ALL_MESSAGES

    @property
    def first(self) -> int:
        """Where its numbers begin."""
        return 1 if self.messages else 0

    @property
    def counter(self) -> str:
        """The field that counts it."""
        return "p2p_sn" if self.messages else "coll_sn"

    @property
    def why_outside(self) -> str:
        """What the account says of records that cannot be paired."""
        if self.messages:
            return "a message, and some of its communicator have no record"
        return "not recorded by every rank of its communicator"


@dataclass(frozen=True)
class Aligned:
    """For each rank, the places among its records that can be paired, and how many cannot, by reason.

    ``coverage`` and ``told`` are about numbers without a record.
    """

    kept: tuple[Ints, ...]
    program: tuple[Ints, ...]
    outside: tuple[Counter[str], ...]
    coverage: tuple[Coverage, ...]
    told: tuple[str, ...]


def aligned(ranks: Sequence[RankRecords], seating: Seating) -> Aligned:
    """Pair the records of all ranks by number.

    ``kept[p]`` are places in ``ranks[p].rows`` and ``program[p]`` numbers the program of each kept one. Raises
    ``InputRefusal`` where one rank recorded a number twice.
    """
    programs: dict[Program, int] = {}
    of_rank = [_programs(records, programs) for records in ranks]
    kept: list[list[Ints]] = [[] for _ in ranks]
    outside: list[Counter[str]] = [Counter() for _ in ranks]
    coverage: list[Coverage] = []
    told: list[str] = []
    for program, number in programs.items():
        places = {p: np.flatnonzero(of_rank[p] == number) for p in sorted(seating.seats[program.communicator])}
        numbers = {p: ranks[p].values("number")[of] for p, of in places.items()}
        for p, of in places.items():
            _check_once(ranks[p], of, numbers[p], program)
        missing = _missing_by_rank(program, numbers)
        by_rank = {ranks[p].rank: gap for p, gap in missing.items() if gap.total}
        coverage += [coverage_row_of(rank, program, gap) for rank, gap in by_rank.items()]
        told += missing_told(program, by_rank, _last(numbers) + 1 - program.first)
        chosen = _pairable(program, numbers, missing)
        for p, of in places.items():
            kept[p].append(of[chosen[p]])
            outside[p][program.why_outside] += int((~chosen[p]).sum())
        if not program.messages:
            some = np.concatenate([numbers[p][~chosen[p]] for p in numbers])
            if len(some):
                some = np.unique(some)
                what = f"{len(some)} x {program.name} on communicator {program.communicator}"
                told.append(f"left out: {what} that not every rank recorded: coll_sn {shown(ranges_of(some))}")
    whole = tuple(np.sort(np.concatenate([np.zeros(0, np.int64), *of])) for of in kept)
    return Aligned(
        whole,
        tuple(of[chosen] for of, chosen in zip(of_rank, whole, strict=True)),
        tuple(outside),
        tuple(coverage),
        tuple(told),
    )


def _last(numbers: Mapping[int, Ints]) -> int:
    return max(int(of.max()) for of in numbers.values() if len(of))


def _missing_by_rank(program: Program, numbers: Mapping[int, Ints]) -> dict[int, Missing]:
    """The numbers that each rank lacks: of collectives up to the last that any rank has, of messages up to its own."""
    last = _last(numbers)
    if program.messages:
        lasts = {p: int(of.max()) if len(of) else 0 for p, of in numbers.items()}
    else:
        lasts = dict.fromkeys(numbers, last)
    return {p: missing_in(np.sort(of), program.first, lasts[p]) for p, of in numbers.items()}


def _pairable(
    program: Program, numbers: Mapping[int, Ints], missing: Mapping[int, Missing]
) -> dict[int, NDArray[np.bool_]]:
    """Which records of each rank can be paired: collectives that all have, messages where none is missing."""
    if program.messages and len(numbers) > 1:
        whole = not any(gap.total for gap in missing.values())
        return {p: np.full(len(of), whole) for p, of in numbers.items()}
    common = reduce(np.intersect1d, numbers.values())
    return {p: np.isin(of, common) for p, of in numbers.items()}


def _programs(records: RankRecords, programs: dict[Program, int]) -> Ints:
    """int64[n]: the program of each taken record."""
    of_kind = [
        programs.setdefault(
            Program(kind.caller.communicator, kind.name if kind.peer is None else ALL_MESSAGES), len(programs)
        )
        if call.group is not None
        else -1
        for kind, call in zip(records.kinds, records.calls, strict=True)
    ]
    return np.asarray(of_kind, np.int64)[records.values("kind")]


def _check_once(records: RankRecords, places: Ints, numbers: Ints, program: Program) -> None:
    order = np.argsort(numbers, kind="stable")
    twice = np.flatnonzero(np.diff(numbers[order]) == 0)
    if not len(twice):
        return
    one, other = (int(records.values("line")[places[order[at]]]) for at in (twice[0], twice[0] + 1))
    block = "p2p_perf" if program.messages else "coll_perf"
    raise InputRefusal(
        f"line {other}.{block}.{program.counter}",
        f"is {int(numbers[order[twice[0]]])} for {program.name} on communicator {program.communicator}, "
        f"as in line {one}",
        "give one process' file once, of one run",
        file=records.file.name,
    )
