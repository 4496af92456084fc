"""The kernels of an export as columns: which communicate, who launched them, and what else ran meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from commcanary.errors import InputRefusal
from commcanary.sources.nsys.database import UNKNOWN
from commcanary.sources.nsys.ranges import PROCESS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.sources.nsys.database import Export
    from commcanary.timeline.communication_kernels import CommunicationKernels

    Ints = NDArray[np.int64]


@dataclass(frozen=True)
class ExportKernels:
    """All kernels of an export in order of start; columns are int64[n], times in ns of the session, -1 unknown.

    ``process`` is the number of ``globalPid // PROCESS``; ``name`` indexes ``names``, ``rule`` the families of
    ``rules`` (-1: compute). ``thread`` and ``launch`` say which thread launched a communication kernel and when.
    ``graph`` marks kernels of a CUDA graph, which no single call launches.
    """

    start: Ints
    end: Ints
    device: Ints
    stream: Ints
    process: Ints
    correlation: Ints
    graph: NDArray[np.bool_]
    name: Ints
    rule: Ints
    thread: Ints
    launch: Ints
    names: tuple[str, ...]
    rules: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.start)

    @property
    def communicating(self) -> NDArray[np.bool_]:
        """bool[n]: the kernels that a rule of the table of communication kernels claims."""
        return np.asarray(self.rule != UNKNOWN)


def export_kernels(export: Export, strings: dict[int, str], table: CommunicationKernels) -> ExportKernels | None:
    """The kernels of ``export``; None where it lists none.

    Raises ``InputRefusal`` for a kernel that ends before it starts and for columns that are not there.
    """
    kernels = export.table("CUPTI_ACTIVITY_KIND_KERNEL")
    if kernels is None or not export.count(kernels):
        return None
    named = next((c for c in ("demangledName", "shortName", "mangledName") if c in kernels.columns), "demangledName")
    wanted = ("start", "end", "deviceId", "streamId", "globalPid", "correlationId", "graphNodeId", named)
    column = export.numbers(kernels, wanted, needed=("start", "end", "deviceId", named))
    order = np.argsort(column["start"], kind="stable")
    if len(order) and not (np.diff(order) == 1).all():
        column = {key: values[order] for key, values in column.items()}
    wrong = np.flatnonzero(column["end"] < column["start"])
    if len(wrong):
        at = int(wrong[0])
        found = f"is {column['end'][at]}, before its start {column['start'][at]}"
        raise InputRefusal(f"{kernels.name}.end", found, "export the report again")
    numbers, name = np.unique(column[named], return_inverse=True)
    names = tuple(strings.get(int(number), "") for number in numbers)
    families = [table.family(text) for text in names]
    rules = tuple(sorted({family for family in families if family is not None}))
    rule_of_name = np.asarray([UNKNOWN if f is None else rules.index(f) for f in families], np.int64)
    rule = rule_of_name[name]
    process = np.where(column["globalPid"] == UNKNOWN, UNKNOWN, column["globalPid"] // PROCESS)
    thread, launch = _launches(export, rule != UNKNOWN, process, column["correlationId"])
    process = np.where((process == UNKNOWN) & (thread != UNKNOWN), thread // PROCESS, process)
    return ExportKernels(
        column["start"],
        column["end"],
        column["deviceId"],
        column["streamId"],
        process,
        column["correlationId"],
        column["graphNodeId"] != UNKNOWN,
        name.reshape(-1).astype(np.int64),
        rule,
        thread,
        launch,
        names,
        rules,
    )


def _launches(export: Export, chosen: NDArray[np.bool_], process: Ints, correlation: Ints) -> tuple[Ints, Ints]:
    """Thread and time of the runtime call behind each chosen kernel, -1 where it is unknown or not one.

    A correlation is a number of its process. Where the export does not say a kernel's process, the number
    must be one call's alone.
    """
    thread, launch = np.full(len(chosen), UNKNOWN, np.int64), np.full(len(chosen), UNKNOWN, np.int64)
    runtime = export.table("CUPTI_ACTIVITY_KIND_RUNTIME")
    wanted = np.flatnonzero(chosen & (correlation != UNKNOWN))
    if runtime is None or not len(wanted) or not {"globalTid", "correlationId", "start"} <= runtime.columns:
        return thread, launch
    low, high = int(correlation[wanted].min()), int(correlation[wanted].max())
    calls = export.numbers(
        runtime, ("correlationId", "globalTid", "start"), f"WHERE correlationId BETWEEN {low} AND {high}"
    )
    owner = calls["globalTid"] // PROCESS
    by_both = np.lexsort((calls["start"], owner, calls["correlationId"]))
    number, owner = calls["correlationId"][by_both], owner[by_both]
    first = np.searchsorted(number, correlation[wanted], side="left")
    last = np.searchsorted(number, correlation[wanted], side="right")
    for at, kernel in enumerate(wanted.tolist()):
        fits = range(first[at], last[at])
        if process[kernel] != UNKNOWN:
            fits = range(
                first[at] + int(np.searchsorted(owner[first[at] : last[at]], process[kernel], side="left")),
                first[at] + int(np.searchsorted(owner[first[at] : last[at]], process[kernel], side="right")),
            )
        threads = {int(calls["globalTid"][by_both[fit]]) for fit in fits}
        if len(threads) == 1:  # several calls of one thread are one inside the other: the outer one comes first
            call = by_both[fits[0]]
            thread[kernel], launch[kernel] = calls["globalTid"][call], calls["start"][call]
    return thread, launch


def graph_launches(export: Export) -> int:
    """CUDA graphs that the profiler traced as a whole: what ran inside them is not listed."""
    return export.count(export.table("CUPTI_ACTIVITY_KIND_GRAPH_TRACE"))
