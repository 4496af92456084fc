"""All that ran on the devices of an export, in one table of rows: kernels, copies, memsets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from commcanary.sources.nsys.database import UNKNOWN
from commcanary.sources.nsys.kernels import KERNELS, in_order, launches, name_column
from commcanary.sources.nsys.ranges import PROCESS
from commcanary.timeline.kernels import Lane

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.sources.nsys.database import Export
    from commcanary.timeline.communication_kernels import CommunicationKernels

    Ints = NDArray[np.int64]

NO_RULE = "no rule: compute"
COPIES = "copy or memset"
_MEMORY = (("CUPTI_ACTIVITY_KIND_MEMCPY", "memcpy"), ("CUPTI_ACTIVITY_KIND_MEMSET", "memset"))


@dataclass(frozen=True)
class DeviceRows:
    """Columns int64[n] in order of start as in ``Kernels``; ``process`` ran the row, -1 where the export does not say.

    ``thread`` and ``launch`` are where and when the host launched the row, -1 unknown.
    """

    start: Ints
    end: Ints
    lane: Ints
    device: Ints
    stream: Ints
    process: Ints
    name: Ints
    rule: Ints
    thread: Ints
    launch: Ints
    names: tuple[str, ...]
    rules: tuple[str, ...]


def device_rows(export: Export, strings: dict[int, str], table: CommunicationKernels) -> DeviceRows | None:
    """Everything that ran on a device; None where no kernel is listed."""
    kernels = export.table(KERNELS)
    if kernels is None or not export.count(kernels):
        return None
    named = name_column(kernels)
    wanted = ("start", "end", "deviceId", "streamId", "globalPid", "correlationId", named)
    column = in_order(export, kernels, wanted)
    numbers, name = np.unique(column[named], return_inverse=True)
    names = [strings.get(int(number), "") for number in numbers]
    families = [table.family(text) for text in names]
    rules = (NO_RULE, COPIES, *sorted({family for family in families if family is not None}))
    rule = np.asarray([rules.index(family or NO_RULE) for family in families], np.int64)[name.reshape(-1)]
    process = np.where(column["globalPid"] == UNKNOWN, UNKNOWN, column["globalPid"] // PROCESS)
    query = f'SELECT correlationId FROM "{kernels.name}"'
    thread, launch = launches(export, process, column["correlationId"], query)
    process = np.where((process == UNKNOWN) & (thread != UNKNOWN), thread // PROCESS, process)
    lane = np.where(rule == 0, int(Lane.COMPUTE), int(Lane.COMMUNICATION))
    parts = {
        "start": [column["start"]],
        "end": [column["end"]],
        "lane": [lane],
        "device": [column["deviceId"]],
        "stream": [column["streamId"]],
        "process": [process],
        "name": [name.reshape(-1).astype(np.int64)],
        "rule": [rule],
        "thread": [thread],
        "launch": [launch],
    }
    for base, word in _MEMORY:
        memory = export.table(base)
        if memory is None or not export.count(memory):
            continue
        copied = in_order(export, memory, ("start", "end", "deviceId", "streamId", "globalPid"))
        count = len(copied["start"])
        names.append(word)
        unknown = np.full(count, UNKNOWN, np.int64)
        owner = np.where(copied["globalPid"] == UNKNOWN, UNKNOWN, copied["globalPid"] // PROCESS)
        values = (
            copied["start"],
            copied["end"],
            np.full(count, int(Lane.MEMORY)),
            copied["deviceId"],
            copied["streamId"],
        )
        more = (owner, np.full(count, len(names) - 1), np.full(count, 1), unknown, unknown)
        for key, value in zip(parts, (*values, *more), strict=True):
            parts[key].append(value)
    joined = {key: np.concatenate(part).astype(np.int64) for key, part in parts.items()}
    order = np.argsort(joined["start"], kind="stable")
    return DeviceRows(**{key: values[order] for key, values in joined.items()}, names=tuple(names), rules=rules)
