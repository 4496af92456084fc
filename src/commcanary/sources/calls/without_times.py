"""Calls of sources that know no device: columns with at most a time of issue, and their account."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.events import UNKNOWN, ProcessGroup, Signature
from commcanary.sources.calls.account import coverage_row
from commcanary.sources.calls.call import Call, Fate
from commcanary.sources.calls.phase_names import UNKNOWN_PHASE
from commcanary.sources.calls.rank_calls import Places, RankCalls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commcanary.sources.calls.job import Job


def rank_calls_of(
    calls: Sequence[tuple[int, Call]],
    job: Job,
    name: str,
    places: Places,
    phase: str | None,
    issue_ns: Sequence[int] | None = None,
) -> RankCalls:
    """Columns of ``calls``: each call's place in its file and what was read, in order of issue.

    ``issue_ns`` are their times of issue where the source has them; else the order is all that is known.
    """
    taken = [i for i, (_, call) in enumerate(calls) if call.fate is Fate.TAKEN]
    keys: dict[tuple[ProcessGroup, Signature], int] = {}
    numbers, receives = [], []
    for i in taken:
        call = calls[i][1]
        if call.group is not None and call.signature is not None:  # taken calls have both
            numbers.append(keys.setdefault((call.group, call.signature), len(keys)))
            receives.append(call.receives)
    unknown = np.full(len(taken), UNKNOWN, np.int64)
    rows = Counter((call.rule, call.fate, call.reason) for _, call in calls)
    return RankCalls(
        job=job,
        name=name,
        keys=tuple(keys),
        key=np.asarray(numbers, np.int64),
        receives=np.asarray(receives, np.bool_),
        phase=np.zeros(len(taken), np.int64),
        phases=(phase or UNKNOWN_PHASE,),
        issue=unknown if issue_ns is None else np.asarray([issue_ns[i] for i in taken], np.int64),
        kernel_start=unknown,
        end=unknown,
        compute_before=unknown,
        overlap=unknown,
        exposed=unknown,
        sequence=unknown,
        event=np.asarray([calls[i][0] for i in taken], np.int64),
        coverage=tuple(coverage_row(job.rank, *key, count) for key, count in sorted(rows.items())),
        fates=Counter(call.fate for _, call in calls),
        places=places,
    )
