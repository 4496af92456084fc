"""When the calls of a process ran on its device, and whether calls and kernels add up.

A rate needs both counts to close: every kernel of NCCL belongs to a launch of calls that were seen, and every such
launch has a kernel. Where they do not close, both counts are told and no time of the device is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from commcanary.errors import InputRefusal
from commcanary.sources.nsys.database import UNKNOWN
from commcanary.timeline.covered import Covered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.sources.nsys.kernels import ExportKernels
    from commcanary.sources.nsys.process_calls import ProcessCalls
    from commcanary.sources.nsys.read import ExportRead
    from commcanary.sources.nsys.windows import Windows

    Ints = NDArray[np.int64]

NCCL_FAMILIES = frozenset({"nccl", "rccl"})
"""Rules of communication kernels that NCCL launches; others are communication of somebody else."""


@dataclass(frozen=True)
class Reconciled:
    """Both views of one rank's communication: ``launches`` are calls alone and groups of calls.

    ``linked`` of ``kernels`` belong to a launch, ``silent`` launches have none; ``in_graphs`` kernels ran in CUDA
    graphs, whose calls were seen when the graph was made, not when it ran.
    """

    rank: int
    calls: int
    launches: int
    silent: int
    kernels: int
    linked: int
    in_graphs: int

    @property
    def closes(self) -> bool:
        """Whether every kernel has its launch and every launch its kernel."""
        return self.kernels == self.linked and not self.silent

    def __str__(self) -> str:
        counts = f"{self.calls:,} calls in {self.launches:,} launches, {self.kernels:,} NCCL kernels"
        if self.closes:
            return f"{counts}: they close"
        odd = [
            (self.kernels - self.linked - self.in_graphs, "kernels without a call"),
            (self.in_graphs, "kernels of CUDA graphs"),
            (self.silent, "launches without a kernel"),
        ]
        return f"{counts}: they do not close ({', '.join(f'{n:,} {what}' for n, what in odd if n)})"


@dataclass(frozen=True)
class CallTimes:
    """Times of a process' calls on its device; int64[n] ns, -1 unknown. ``shared``: a kernel serves several calls.

    ``busy`` is the time of each call's kernels, a share of it where several calls share them.
    """

    kernel_start: Ints
    end: Ints
    compute_before: Ints
    overlap: Ints
    exposed: Ints
    shared: NDArray[np.bool_]
    busy: Ints


def process_times(
    read: ExportRead, calls: ProcessCalls, windows: Windows
) -> tuple[CallTimes, Reconciled, dict[str, tuple[int, int]]]:
    """Times of ``calls``, the counts behind them, and (kernels, ns) of each rule that no call explains.

    Raises ``InputRefusal`` where the process communicated on several devices: no call says on which one.
    """
    window = windows.of_range[np.asarray(calls.range, np.int64)] if calls.range else np.zeros(0, np.int64)
    launches, position, sharing = np.unique(window, return_inverse=True, return_counts=True)
    position = position.reshape(-1)
    shared = (sharing[position] > 1) & (window != UNKNOWN)
    kernels = read.kernels
    if kernels is None:
        counts = Reconciled(calls.rank, len(window), len(launches), len(launches), 0, 0, 0)
        return _no_times(len(window), shared), counts, {}
    mine = np.flatnonzero(kernels.process == calls.process.number)
    _check_one_device(read, kernels, mine, calls)
    by_nccl = np.asarray([rule in NCCL_FAMILIES for rule in kernels.rules], np.bool_)[kernels.rule[mine]]
    nccl = mine[by_nccl]
    held = windows.containing(kernels.thread[nccl], kernels.launch[nccl])
    at = np.searchsorted(launches, held)
    at = np.where((at < len(launches)) & (held != UNKNOWN), at, 0)
    linked = (held != UNKNOWN) & (launches[at] == held) if len(launches) else np.zeros(len(nccl), np.bool_)
    lane = _Lane(kernels, nccl, mine)
    first = np.full(len(launches), np.iinfo(np.int64).max, np.int64)
    last = np.full(len(launches), UNKNOWN, np.int64)
    overlap, length = np.zeros(len(launches), np.int64), np.zeros(len(launches), np.int64)
    before = np.full(len(launches), UNKNOWN, np.int64)
    of, ran = at[linked], nccl[linked]
    np.minimum.at(first, of, kernels.start[ran])
    np.maximum.at(last, of, kernels.end[ran])
    np.add.at(overlap, of, lane.overlap[linked])
    np.add.at(length, of, (kernels.end - kernels.start)[ran])
    before[of[::-1]] = lane.before[linked][::-1]  # that of the launch's first kernel
    known = (last != UNKNOWN) & (launches != UNKNOWN)
    graphs = int(kernels.graph[nccl[~linked]].sum())
    counts = Reconciled(
        calls.rank,
        len(window),
        int((launches != UNKNOWN).sum()),
        int((~known).sum()),
        len(nccl),
        int(linked.sum()),
        graphs,
    )

    def of_calls(values: Ints) -> Ints:
        return np.where(known[position], values[position], UNKNOWN) if len(position) else position.astype(np.int64)

    alone = ~shared
    times = CallTimes(
        of_calls(first),
        of_calls(last),
        of_calls(before),
        np.where(alone, of_calls(overlap), UNKNOWN),
        np.where(alone, of_calls(length - overlap), UNKNOWN),
        shared,
        np.maximum(of_calls(length // np.maximum(sharing, 1)), 0),
    )
    unexplained: dict[str, tuple[int, int]] = {}
    for kernel in np.concatenate([nccl[~linked], mine[~by_nccl]]).tolist():
        rule = kernels.rules[kernels.rule[kernel]]
        count, ns = unexplained.get(rule, (0, 0))
        unexplained[rule] = (count + 1, ns + int(kernels.end[kernel] - kernels.start[kernel]))
    return times, counts, unexplained


def withheld(times: CallTimes) -> CallTimes:
    """The same calls without times of the device."""
    return _no_times(len(times.shared), times.shared)


def _no_times(count: int, shared: NDArray[np.bool_]) -> CallTimes:
    unknown = np.full(count, UNKNOWN, np.int64)
    return CallTimes(unknown, unknown, unknown, unknown, unknown, shared, np.zeros(count, np.int64))


class _Lane:
    """What computed on the device beside and before each of ``nccl``'s kernels; ``communicating`` are all that do."""

    def __init__(self, kernels: ExportKernels, nccl: Ints, communicating: Ints) -> None:
        self.overlap, self.before = np.zeros(len(nccl), np.int64), np.zeros(len(nccl), np.int64)
        if not len(nccl):
            return
        device = kernels.device[nccl[0]]
        here = kernels.computing["deviceId"] == device
        compute = Covered(kernels.computing["start"][here], kernels.computing["end"][here])
        self.overlap = compute.within(kernels.start[nccl], kernels.end[nccl])
        ends = np.maximum.accumulate(kernels.end[communicating])
        at = np.searchsorted(communicating, nccl) - 1
        opening = min([int(kernels.start[kernels.device == device].min()), *compute.start[:1].tolist()])
        since = np.where(at >= 0, ends[np.maximum(at, 0)], opening)
        self.before = compute.within(np.minimum(since, kernels.start[nccl]), kernels.start[nccl])


def _check_one_device(read: ExportRead, kernels: ExportKernels, mine: Ints, calls: ProcessCalls) -> None:
    devices = np.unique(kernels.device[mine]).tolist()
    if len(devices) > 1:
        raise InputRefusal(
            "CUPTI_ACTIVITY_KIND_KERNEL.deviceId",
            f"process {calls.process.pid} communicates on devices {devices}, and no call says on which",
            "run one process a device",
            file=str(read.path),
        )
