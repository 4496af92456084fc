"""One rank's records as the columns that matching and merging take, and the account of what was seen."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.events import UNKNOWN, ProcessGroup, Signature
from commcanary.artifacts.trace import Coverage
from commcanary.sources.calls.account import coverage_row
from commcanary.sources.calls.call import Fate
from commcanary.sources.calls.job import Job
from commcanary.sources.calls.phase_names import UNKNOWN_PHASE
from commcanary.sources.calls.rank_calls import Places, RankCalls
from commcanary.sources.nccl_inspector.rank_records import RULE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from commcanary.sources.calls.seating import Seating
    from commcanary.sources.nccl_inspector.processes import Process
    from commcanary.sources.nccl_inspector.rank_records import RankRecords

    Ints = NDArray[np.int64]

PLACES = Places("line", "header.rank", "header.n_ranks", "header", "header.id")
UNREADABLE = "Inspector line"


def rank_calls(
    records: RankRecords,
    process: Process,
    own: Ints,
    outside: Mapping[str, int],
    seating: Seating,
    phase: str | None,
) -> RankCalls:
    """Columns of the calls at the places ``own`` of ``records.rows``; ``outside`` counts those that were left out."""
    keys: dict[tuple[ProcessGroup, Signature], int] = {}
    of_kind = np.full(len(records.calls), UNKNOWN, np.int64)
    receives = np.zeros(len(records.calls), np.bool_)
    message = np.zeros(len(records.calls), np.bool_)
    for number, call in enumerate(records.calls):
        if call.group is not None and call.signature is not None:  # taken calls have both
            of_kind[number] = keys.setdefault((call.group, call.signature), len(keys))
            receives[number] = call.receives
            message[number] = call.signature.op == "point_to_point"
    kind = records.values("kind")[own]
    coverage, fates = _account(records, process, len(own), outside)
    unknown = np.full(len(own), UNKNOWN, np.int64)
    return RankCalls(
        job=Job(records.rank, seating.size, "nccl", (), None),
        name=records.file.name,
        keys=tuple(keys),
        key=of_kind[kind],
        receives=receives[kind],
        phase=np.zeros(len(own), np.int64),
        phases=(phase or UNKNOWN_PHASE,),
        issue=records.values("start_ns")[own],
        kernel_start=unknown,
        end=records.values("end_ns")[own],
        compute_before=unknown,
        overlap=unknown,
        exposed=unknown,
        sequence=np.where(message[kind], UNKNOWN, records.values("number")[own]),
        event=records.values("line")[own],
        coverage=coverage,
        fates=fates,
        places=PLACES,
    )


def _account(
    records: RankRecords, process: Process, taken: int, outside: Mapping[str, int]
) -> tuple[tuple[Coverage, ...], Counter[Fate]]:
    """Rows of the account and calls by fate; the file's unreadable lines are the first process' that it holds."""
    rows = [(Fate.OUTSIDE, reason, count) for reason, count in outside.items()]
    rows += [(fate, reason, count) for (fate, reason), count in sorted(records.left.items())]
    coverage = [coverage_row(records.rank, RULE, Fate.TAKEN, "", taken)] if taken else []
    coverage += [coverage_row(records.rank, RULE, fate, reason, count) for fate, reason, count in rows if count]
    fates = Counter({Fate.TAKEN: taken})
    for fate, _, count in rows:
        fates[fate] += count
    if process.first:
        file = records.file
        coverage += [
            coverage_row(records.rank, UNREADABLE, Fate.REFUSED, reason, count)
            for reason, count in sorted(file.left.items())
        ]
        fates[Fate.REFUSED] += file.left.total()
        if file.proxy_records:
            count, reason = file.proxy_records, "how a network moved a part of a call"
            coverage.append(Coverage(records.rank, "Inspector proxy record", count, 0, count, reason=reason))
    return tuple(coverage), fates
