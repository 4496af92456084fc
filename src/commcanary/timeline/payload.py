"""Messages: how many, how large, and - where calls and kernels close - how fast."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from commcanary.timeline.kernels import UNKNOWN, Lane
from commcanary.timeline.overlap import Payload, RankCount, Rates, Size
from commcanary.units import r3

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from commcanary.artifacts.events import ProcessGroup
    from commcanary.timeline.rank_timeline import Calls, RankTimeline
    from commcanary.timeline.windows import Window

    Ints = NDArray[np.int64]


_CUT = -2
"""Step of a call whose step lies only partly in the trim."""


@dataclass(frozen=True)
class _Mine:
    """The calls of one rank in one row: bytes, step and number of kernels of each, durations of those with one."""

    rank: int
    bytes: Ints
    step: Ints
    kernels: Ints
    duration: Ints

    def of(self, size: int) -> _Mine:
        """The calls of one size."""
        mine = self.bytes == size
        return _Mine(self.rank, self.bytes[mine], self.step[mine], self.kernels[mine], self.duration[mine])


def payload(timelines: Sequence[RankTimeline], trims: Sequence[Window | None]) -> tuple[Payload, ...]:
    """A row per collective kind and process group, over the ranks whose calls could be read.

    With a trim, the calls that were issued in it. ``trims`` are the windows of ``timelines``, None for all.
    """
    found: dict[tuple[str, ProcessGroup], list[tuple[_Mine, set[str]]]] = {}
    loose: Counter[str] = Counter()
    for timeline, trim in zip(timelines, trims, strict=True):
        if timeline.calls is None or timeline.rank is None:
            continue
        kernels, duration, unlinked = _linked(timeline, timeline.calls, trim)
        loose.update(unlinked)
        step = timeline.calls.step
        step = np.where((step == UNKNOWN) | np.isin(step, _steps(timeline, trim)), step, _CUT)
        for key, mine, dtypes in _rows(timeline.rank, timeline.calls, step, kernels, duration, trim):
            found.setdefault(key, []).append((mine, dtypes))
    steps = max((len(_steps(timeline, trim)) for timeline, trim in zip(timelines, trims, strict=True)), default=0)
    rows = [
        _row(kind, group, [m for m, _ in ranks], set().union(*(d for _, d in ranks)), loose[kind], steps)
        for (kind, group), ranks in found.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.bytes_total, row.kind, row.group)))


def shown_bytes(count: int) -> str:
    """``4`` -> ``4 B``, ``5242880`` -> ``5.00 MiB``: never rounded down to nothing."""
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{count / size:.2f} {unit}"
    return f"{count} B"


def bus_factor(kind: str, ranks: int) -> float | None:
    """nccl-tests' factor from algorithm to bus bandwidth (its doc/PERFORMANCE.md); None where it has none."""
    if ranks < 2:
        return None
    if kind == "all_reduce":
        return 2 * (ranks - 1) / ranks
    if kind in ("all_gather", "reduce_scatter", "all_to_all", "gather", "scatter"):
        return (ranks - 1) / ranks
    return 1.0 if kind in ("broadcast", "reduce", "point_to_point") else None


def _steps(timeline: RankTimeline, trim: Window | None) -> list[int]:
    edges = zip(timeline.steps.start.tolist(), timeline.steps.end.tolist(), strict=True)
    return [i for i, (start, end) in enumerate(edges) if trim is None or (trim.start <= start and end <= trim.end)]


def _linked(timeline: RankTimeline, calls: Calls, trim: Window | None) -> tuple[Ints, Ints, Counter[str]]:
    """Kernels of each call, their time, and the communication kernels without a call, by kind."""
    count, time = np.zeros(len(calls), np.int64), np.zeros(len(calls), np.int64)
    loose: Counter[str] = Counter()
    for device in timeline.devices:
        kernels = device.kernels.on(Lane.COMMUNICATION)
        linked = kernels.call != UNKNOWN
        np.add.at(count, kernels.call[linked], 1)
        np.add.at(time, kernels.call[linked], kernels.durations[linked])
        stray = kernels.where(~linked)
        if trim is not None:
            stray = stray.where((stray.start >= trim.start) & (stray.end <= trim.end))
        loose.update(timeline.kinds[kind] for kind in stray.kind.tolist())
    return count, time, loose


def _rows(
    rank: int, calls: Calls, step: Ints, kernels: Ints, duration: Ints, trim: Window | None
) -> list[tuple[tuple[str, ProcessGroup], _Mine, set[str]]]:
    chosen = np.ones(len(calls), np.bool_)
    if trim is not None:
        chosen = (calls.issue >= trim.start) & (calls.issue < trim.end)
    size = np.asarray([signature.bytes for signature in calls.signatures], np.int64)
    keys: dict[tuple[str, ProcessGroup], list[int]] = {}
    for number, signature in enumerate(calls.signatures):
        keys.setdefault((signature.op, calls.groups[signature.group]), []).append(number)
    rows = []
    for key, numbers in keys.items():
        mine = np.flatnonzero(chosen & np.isin(calls.signature, numbers))
        if len(mine):
            dtypes = {calls.signatures[n].dtype or "unknown" for n in np.unique(calls.signature[mine]).tolist()}
            row = _Mine(rank, size[calls.signature[mine]], step[mine], kernels[mine], duration[mine])
            rows.append((key, row, dtypes))
    return rows


def _row(kind: str, group: ProcessGroup, ranks: list[_Mine], dtypes: set[str], unlinked: int, steps: int) -> Payload:
    size = np.sort(np.concatenate([mine.bytes for mine in ranks]))
    total, calls = sum(size.tolist()), len(size)
    per_step, reasons = _closure(ranks, unlinked, steps)
    return Payload(
        kind=kind,
        group=group.name,
        group_ranks=group.size,
        dtypes=tuple(sorted(dtypes)),
        calls=calls,
        kernels=sum(int(mine.kernels.sum()) for mine in ranks),
        unlinked_kernels=unlinked,
        ranks=len(ranks),
        steps=steps,
        per_step=per_step,
        bytes_p50=_nearest_rank(size, 50),
        bytes_p99=_nearest_rank(size, 99),
        bytes_total=total,
        bytes_per_rank_step=total // (len(ranks) * steps) if per_step and total % (len(ranks) * steps) == 0 else None,
        sizes=tuple(
            _size(kind, group, b, [mine.of(b) for mine in ranks], unlinked, steps) for b in np.unique(size).tolist()
        ),
        per_rank=tuple(
            RankCount(
                rank=mine.rank, calls=len(mine.bytes), kernels=int(mine.kernels.sum()), bytes=sum(mine.bytes.tolist())
            )
            for mine in sorted(ranks, key=lambda mine: mine.rank)
        ),
        open_because=reasons,
        rates=None if reasons else _rates(kind, group, ranks),
    )


def _size(kind: str, group: ProcessGroup, size: int, ranks: list[_Mine], unlinked: int, steps: int) -> Size:
    per_step, reasons = _closure(ranks, unlinked, steps)
    return Size(
        bytes=size,
        shown=shown_bytes(size),
        calls=sum(len(mine.bytes) for mine in ranks),
        per_step=per_step,
        rates=None if reasons else _rates(kind, group, ranks),
    )


def _closure(ranks: list[_Mine], unlinked: int, steps: int) -> tuple[int | None, tuple[str, ...]]:
    """Calls per rank and step, None where they differ; and why the counts do not close, if so."""
    reasons = []
    for mine in sorted(ranks, key=lambda mine: mine.rank):
        without, several = int((mine.kernels == 0).sum()), int((mine.kernels > 1).sum())
        if without:
            reasons.append(f"rank {mine.rank}: {without} of {len(mine.bytes)} calls have no kernel")
        if several:
            reasons.append(f"rank {mine.rank}: {several} of {len(mine.bytes)} calls have several kernels")
        still = int(((mine.kernels == 1) & (mine.duration <= 0)).sum())
        if still:
            reasons.append(f"rank {mine.rank}: {still} kernels have no duration")
    if unlinked:
        reasons.append(f"{unlinked} kernels of this kind have no call")
    if steps:
        counts = {tuple(np.bincount(mine.step[mine.step >= 0], minlength=1).tolist()) for mine in ranks}
        per = sorted({int((mine.step == s).sum()) for mine in ranks for s in np.unique(mine.step[mine.step >= 0])})
        outside = sum(int((mine.step == UNKNOWN).sum()) for mine in ranks)
        covered = all(len(np.unique(mine.step[mine.step >= 0])) == steps for mine in ranks)
        cut = sum(int((mine.step == _CUT).sum()) for mine in ranks)
        if outside:
            reasons.append(f"{outside} calls lie in no profiler step")
        if cut:
            reasons.append(f"{cut} calls are of steps that the trim cuts")
        if len(per) == 1 and covered and len(counts) == 1:
            return per[0], tuple(reasons)
        low = per[0] if covered and per else 0
        reasons.append(
            f"a step has from {low} to {per[-1] if per else 0} calls, so calls are not ranks x steps x a number"
        )
        return None, tuple(reasons)
    if len({len(mine.bytes) for mine in ranks}) > 1:
        reasons.append("ranks have different numbers of calls")
    return None, tuple(reasons)


def _rates(kind: str, group: ProcessGroup, ranks: list[_Mine]) -> Rates:
    size = np.concatenate([mine.bytes for mine in ranks])
    duration = np.concatenate([mine.duration for mine in ranks])
    middle = float(np.median(size / duration))  # bytes per ns are GB per s
    whole = int(size.sum()) / int(duration.sum())
    factor = bus_factor(kind, group.size)
    return Rates(
        algbw_p50_gb_s=r3(middle),
        algbw_total_gb_s=r3(whole),
        bus_factor=factor,
        busbw_p50_gb_s=None if factor is None else r3(middle * factor),
        busbw_total_gb_s=None if factor is None else r3(whole * factor),
    )


def _nearest_rank(ordered: Ints, percent: int) -> int:
    """The smallest value that ``percent`` of all values do not exceed: a size that occurs."""
    return int(ordered[max(0, -(-percent * len(ordered) // 100) - 1)])
