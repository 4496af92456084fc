"""One rank's calls as the columns that matching and merging take, and the account of what was seen."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.events import UNKNOWN, ProcessGroup, Signature
from commcanary.artifacts.trace import Coverage
from commcanary.sources.calls.call import Fate
from commcanary.sources.calls.job import Job
from commcanary.sources.calls.phase_names import UNKNOWN_PHASE
from commcanary.sources.calls.rank_calls import Places, RankCalls
from commcanary.sources.nsys.process_calls import RULE, WITHOUT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.sources.nsys.communicators import Communicators
    from commcanary.sources.nsys.process_calls import ProcessCalls
    from commcanary.sources.nsys.process_times import CallTimes, Reconciled
    from commcanary.sources.nsys.read import ExportRead
    from commcanary.sources.nsys.settings import NsysSettings

    Ints = NDArray[np.int64]

_BETWEEN = " > "


@dataclass(frozen=True)
class Rank:
    """The calls of one process with its counts; ``unexplained`` are (kernels, ns) by rule that no call launched.

    ``busy`` is the time of each call's kernels in ns, also where the counts do not close.
    """

    calls: RankCalls
    own: ProcessCalls
    counts: Reconciled
    unexplained: dict[str, tuple[int, int]]
    busy: Ints

    @property
    def fates(self) -> Counter[Fate]:
        """Calls by what became of them."""
        return self.calls.fates


def rank_calls(
    read: ExportRead, own: ProcessCalls, times: CallTimes, communicators: Communicators, settings: NsysSettings
) -> RankCalls:
    """Columns of the calls of one process."""
    chosen = np.asarray(own.range, np.int64)
    keys: dict[tuple[ProcessGroup, Signature], int] = {}
    numbers = []
    for call in own.calls:
        assert call.group is not None and call.signature is not None  # taken calls have both  # noqa: PT018
        numbers.append(keys.setdefault((call.group, call.signature), len(keys)))
    sites: dict[str, int] = {}
    site = [
        sites.setdefault(_BETWEEN.join(read.around[i]), len(sites)) if read.around[i] else UNKNOWN for i in own.range
    ]
    named = [settings.phase or read.phase[i] or UNKNOWN_PHASE for i in own.range]
    phases = tuple(dict.fromkeys(named))
    fates = Counter({Fate.TAKEN: len(own.calls)})
    for (_, fate, _), count in own.left.items():
        fates[fate] += count
    return RankCalls(
        job=Job(own.rank, communicators.world, "nccl", (), read.base_ns),
        name=f"{read.path.name}, process {own.process.pid}",
        keys=tuple(keys),
        key=np.asarray(numbers, np.int64),
        receives=np.asarray([call.receives for call in own.calls], np.bool_),
        phase=np.asarray([phases.index(name) for name in named], np.int64),
        phases=phases,
        issue=read.ranges.start[chosen],
        kernel_start=times.kernel_start,
        end=times.end,
        compute_before=times.compute_before,
        overlap=times.overlap,
        exposed=times.exposed,
        sequence=np.full(len(chosen), UNKNOWN, np.int64),
        event=read.ranges.row[chosen],
        coverage=(),
        fates=fates,
        places=Places(calls=read.table, rank="process", world="No. of ranks"),
        site=np.asarray(site, np.int64),
        sites=tuple(sites),
    )


def coverage_of(rank: Rank, trimmed: int) -> list[Coverage]:
    """Rows of the account of one rank; ``trimmed`` of its calls lie outside the window that the user gave."""
    number = rank.calls.job.rank
    whole = int(rank.busy.sum()) + sum(ns for _, ns in rank.unexplained.values())

    def share(ns: int) -> float | None:
        return round(ns / whole, 6) if whole else None

    taken = len(rank.calls)
    rows = [
        Coverage(
            number,
            RULE,
            taken,
            taken - trimmed,
            skipped=trimmed,
            reason="outside --trim" if trimmed else "",
            time_share=share(int(rank.busy.sum())),
        )
    ]
    if rank.own.parts:
        reason = "messages that are one all-to-all together with a taken one"
        rows.append(Coverage(number, RULE, rank.own.parts, rank.own.parts, reason=reason))
    for (rule, fate, reason), count in sorted(rank.own.left.items()):
        refused = count if fate is Fate.REFUSED else 0
        rows.append(
            Coverage(number, rule, count, 0, skipped=count - refused, refused=refused, reason=f"{fate}: {reason}")
        )
    if rank.own.unknown:
        rows.append(
            Coverage(
                number,
                WITHOUT,
                rank.own.unknown,
                0,
                unknown=rank.own.unknown,
                reason="the export has no payload for it, so no size",
            )
        )
    rows += [
        Coverage(
            number,
            f"communication kernel: {rule}",
            count,
            0,
            unknown=count,
            reason="no NCCL range launched it",
            time_share=share(ns),
        )
        for rule, (count, ns) in sorted(rank.unexplained.items())
    ]
    return rows
