"""Measured collectives beside what nccl-tests says they take: late ranks told from slow transfers.

A collective's kernel lasts from the rank's arrival to the end of the transfer. With the last rank's arrival known,

    duration  =  waiting for late ranks  +  transfer            (exact, per call)
    transfer  =  expected for its bytes  +  slower than that

where expected is startup + bytes / bandwidth of the same operation on as many ranks, alone on the machine. Without
arrivals only duration - expected is known, and not whose fault it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from commcanary.timeline.alpha_beta import AlphaBeta
from commcanary.timeline.kernels import UNKNOWN, Kernels, Lane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from commcanary.timeline.rank_timeline import RankTimeline

    Ints = NDArray[np.int64]

NO_ARRIVALS = "arrivals of the ranks are not known on one clock: excess is late ranks and slow transfers together"


class TransferLaw(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a table says: ``operation`` on ``ranks`` ranks takes ``law``; ``table`` names its file."""

    table: str
    operation: str
    ranks: int
    law: AlphaBeta
    largest_residual_pct: float


class TransferRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Sums over the calls of one kind on ``ranks`` ranks, as ``rank`` saw them, in ns.

    ``measured`` = ``late`` + ``expected`` + ``slower``. ``late_ns`` and ``slower_ns`` are null without arrivals;
    ``excess_ns`` = measured - expected is always there. A negative ``slower_ns`` is faster than the table.
    """

    rank: int | None
    device: str
    kind: str
    ranks: int
    calls: int
    measured_ns: int
    expected_ns: int
    excess_ns: int
    late_ns: int | None
    slower_ns: int | None


class TransferBaseline(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``laws`` and what they say of every device; ``unknown`` names what could not be compared and why."""

    laws: tuple[TransferLaw, ...]
    rows: tuple[TransferRow, ...]
    unknown: dict[str, str]


def transfer_rows(
    timeline: RankTimeline, device: str, kernels: Kernels, laws: Sequence[TransferLaw], last_arrival: Ints | None
) -> list[TransferRow]:
    """One row for each law that fits calls of this device; ``last_arrival`` is as in ``dependency_of``."""
    calls = timeline.calls
    if calls is None:
        return []
    mine = np.flatnonzero((kernels.lane == Lane.COMMUNICATION) & (kernels.call != UNKNOWN))
    call = kernels.call[mine]
    rows = []
    for law in laws:
        fits = np.asarray(
            [s.op == law.operation and calls.groups[s.group].size == law.ranks for s in calls.signatures], np.bool_
        )
        chosen = mine[fits[calls.signature[call]]]
        if not len(chosen):
            continue
        sizes = [calls.signatures[number].bytes for number in calls.signature[kernels.call[chosen]].tolist()]
        expected = np.asarray([round(1000 * law.law.time_us(size)) for size in sizes], np.int64)
        start, end = kernels.start[chosen], kernels.end[chosen]
        late = slower = None
        if last_arrival is not None:
            arrived = last_arrival[kernels.call[chosen]]
            if bool((arrived != UNKNOWN).all()):
                waiting = np.clip(arrived, start, end) - start
                late = int(waiting.sum())
                slower = int((end - start - waiting - expected).sum())
        measured, wanted = int((end - start).sum()), int(expected.sum())
        rows.append(
            TransferRow(
                rank=timeline.rank,
                device=device,
                kind=law.operation,
                ranks=law.ranks,
                calls=len(chosen),
                measured_ns=measured,
                expected_ns=wanted,
                excess_ns=measured - wanted,
                late_ns=late,
                slower_ns=slower,
            )
        )
    return rows


def transfer_baseline(laws: Sequence[TransferLaw], rows: Sequence[TransferRow]) -> TransferBaseline:
    """The rows of all devices, and for each law without any the reason."""
    seen = {(row.kind, row.ranks) for row in rows}
    unknown = {
        f"{law.operation} on {law.ranks} ranks ({law.table})": "no call of this operation on so many ranks was read"
        for law in laws
        if (law.operation, law.ranks) not in seen
    }
    if any(row.late_ns is None for row in rows):
        unknown["late ranks"] = NO_ARRIVALS
    return TransferBaseline(laws=tuple(laws), rows=tuple(rows), unknown=unknown)
