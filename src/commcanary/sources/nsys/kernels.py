"""The kernels of an export: those that communicate, with who launched them, and when a device computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from commcanary.errors import InputRefusal
from commcanary.sources.nsys.database import LATEST_NS, LONGEST_NS, UNKNOWN, time_fault
from commcanary.sources.nsys.ranges import PROCESS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from commcanary.sources.nsys.database import Export, Table
    from commcanary.timeline.communication_kernels import CommunicationKernels

    Ints = NDArray[np.int64]

KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"
NAMES = ("demangledName", "shortName", "mangledName")
"""Columns of a kernel's name, best first."""


@dataclass(frozen=True)
class ExportKernels:
    """The communication kernels of an export in order of start; columns are int64[n], ns of the session, -1 unknown.

    ``process`` is ``globalPid // PROCESS``; ``rule`` indexes the families of ``rules``. ``thread`` and ``launch`` say
    which thread launched a kernel and when. ``graph`` marks kernels of a CUDA graph, which no single call launches.
    ``computing`` are the start, end and device of all other kernels, ``listed`` the number of all.
    """

    start: Ints
    end: Ints
    device: Ints
    process: Ints
    graph: NDArray[np.bool_]
    rule: Ints
    thread: Ints
    launch: Ints
    rules: tuple[str, ...]
    computing: dict[str, Ints]

    def __len__(self) -> int:
        return len(self.start)

    @property
    def listed(self) -> int:
        """Kernels of the export, of all kinds."""
        return len(self) + len(self.computing["start"])


def export_kernels(export: Export, strings: dict[int, str], table: CommunicationKernels) -> ExportKernels | None:
    """The kernels of ``export``; None where it lists none.

    Raises ``InputRefusal`` for a kernel that ends before it starts and for columns that are not there.
    """
    kernels = export.table(KERNELS)
    if kernels is None or not export.count(kernels):
        return None
    named = name_column(kernels)
    families = {
        number: family
        for (number,) in export.rows(f'SELECT DISTINCT "{named}" FROM "{kernels.name}"', kernels.name)
        if (family := table.family(strings.get(number, ""))) is not None
    }
    some = ",".join(str(number) for number in families if isinstance(number, int))
    mine, others = f'WHERE "{named}" IN ({some})', f'WHERE "{named}" NOT IN ({some})'
    wanted = ("start", "end", "deviceId", "globalPid", "correlationId", "graphNodeId", named)
    column = in_order(export, kernels, wanted, mine)
    computing = in_order(export, kernels, ("start", "end", "deviceId"), others)
    rules = tuple(sorted(set(families.values())))
    rule_of_name = {number: rules.index(family) for number, family in families.items()}
    process = np.where(column["globalPid"] == UNKNOWN, UNKNOWN, column["globalPid"] // PROCESS)
    thread, launch = launches(
        export, process, column["correlationId"], f'SELECT correlationId FROM "{kernels.name}" {mine}'
    )
    return ExportKernels(
        column["start"],
        column["end"],
        column["deviceId"],
        np.where((process == UNKNOWN) & (thread != UNKNOWN), thread // PROCESS, process),
        column["graphNodeId"] != UNKNOWN,
        np.asarray([rule_of_name[number] for number in column[named].tolist()], np.int64),
        thread,
        launch,
        rules,
        computing,
    )


def name_column(kernels: Table) -> str:
    """The column that names a kernel; refused where there is none."""
    for column in NAMES:
        if column in kernels.columns:
            return column
    raise InputRefusal(f"{kernels.name}.{NAMES[0]}", "is missing", "export the report again")


def in_order(export: Export, kernels: Table, wanted: Sequence[str], where: str = "") -> dict[str, Ints]:
    """Columns of the kernels that ``where`` picks, in order of start; refuses impossible times."""
    column = export.numbers(kernels, wanted, where, needed=("start", "end", "deviceId"))
    start, length = column["start"], column["end"] - column["start"]
    wrong = (length < 0) | (length > LONGEST_NS) | (start > LATEST_NS) | (start < -LATEST_NS)
    for at in np.flatnonzero(wrong)[:1].tolist():
        fault = time_fault(int(start[at]), int(column["end"][at])) or "has impossible times"
        raise InputRefusal(kernels.name, f"holds a kernel that {fault}", "export the report again")
    if (start[1:] >= start[:-1]).all():
        return column
    order = np.argsort(start, kind="stable")
    return {key: values[order] for key, values in column.items()}


def launches(export: Export, process: Ints, correlation: Ints, correlations: str) -> tuple[Ints, Ints]:
    """Thread and time of the runtime call behind each kernel, -1 where it is unknown or not one.

    A correlation is a number of its process. Where the export does not say a kernel's process, the number must be
    one thread's alone. ``correlations`` is the query that gives the numbers, for the database to pick rows by.
    """
    thread, launch = np.full(len(process), UNKNOWN, np.int64), np.full(len(process), UNKNOWN, np.int64)
    runtime = export.table("CUPTI_ACTIVITY_KIND_RUNTIME")
    if runtime is None or not len(process) or not {"globalTid", "correlationId", "start"} <= runtime.columns:
        return thread, launch
    calls = export.numbers(runtime, ("correlationId", "globalTid", "start"), f"WHERE correlationId IN ({correlations})")
    known = correlation != UNKNOWN
    for stated in (True, False):
        kernels = np.flatnonzero(known & ((process != UNKNOWN) == stated))
        owner = calls["globalTid"] // PROCESS if stated else np.zeros(len(calls["start"]), np.int64)
        wanted = process[kernels] if stated else np.zeros(len(kernels), np.int64)
        found = _only_thread(calls, owner, correlation[kernels], wanted)
        behind = kernels[found != UNKNOWN]
        chosen = found[found != UNKNOWN]
        thread[behind], launch[behind] = calls["globalTid"][chosen], calls["start"][chosen]
    return thread, launch


def _only_thread(calls: dict[str, Ints], owner: Ints, correlation: Ints, wanted: Ints) -> Ints:
    """Index of the first call of each (owner, correlation), -1 where there is none or two threads have one."""
    owners = np.unique(np.concatenate([owner, wanted]), return_inverse=True)[1].reshape(-1)
    numbers = np.unique(np.concatenate([calls["correlationId"], correlation]), return_inverse=True)[1].reshape(-1)
    pairs = owners * (int(numbers.max(initial=0)) + 1) + numbers  # both count what is there, so this fits 64 bits
    key = np.unique(pairs, return_inverse=True)[1].reshape(-1)
    of_call, of_kernel = key[: len(owner)], key[len(owner) :]
    order = np.lexsort((calls["start"], of_call))
    first = np.full(int(key.max(initial=0)) + 1, UNKNOWN, np.int64)
    first[of_call[order[::-1]]] = order[::-1]
    several = np.zeros(len(first), np.bool_)
    several[of_call[calls["globalTid"] != calls["globalTid"][first[of_call]]]] = True
    return np.where(several[of_kernel], UNKNOWN, first[of_kernel])


def graph_launches(export: Export) -> int:
    """CUDA graphs that the profiler traced as a whole: what ran inside them is not listed."""
    return export.count(export.table("CUPTI_ACTIVITY_KIND_GRAPH_TRACE"))
