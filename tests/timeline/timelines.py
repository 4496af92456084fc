"""Timelines written by hand: kernels as (start, end, what), in ns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from commcanary.artifacts.events import ProcessGroup, Signature
from commcanary.timeline.kernels import Kernels, Lane
from commcanary.timeline.rank_timeline import Calls, DeviceTimeline, Ranges, RankTimeline

if TYPE_CHECKING:
    from collections.abc import Sequence

KINDS = ("all_reduce", "all_gather")
SITES = ("ddp", "fsdp")
PHASES = ("forward", "backward")
NAMES = ("gemm", "norm", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "multimem_all_reduce_kernel", "Memcpy HtoD")
RULES = ("no rule: compute", "nccl", "copy or memset")


class K(NamedTuple):
    """A kernel; ``kind`` of None computes, ``"copy"`` copies, another is a collective."""

    start: int
    end: int
    kind: str | None = None
    phase: int = -1
    site: int = -1
    call: int = -1
    launch: int = -1
    name: int = 0


def kernels(rows: Sequence[K]) -> Kernels:
    rows = sorted(rows, key=lambda row: row.start)
    lanes = [Lane.COMPUTE if r.kind is None else Lane.MEMORY if r.kind == "copy" else Lane.COMMUNICATION for r in rows]

    def column(values: Any) -> Any:
        return np.asarray(list(values), np.int64)

    return Kernels(
        start=column(r.start for r in rows),
        end=column(r.end for r in rows),
        lane=column(lanes),
        name=column(r.name for r in rows),
        stream=column(0 for r in rows),
        rule=column({Lane.COMPUTE: 0, Lane.COMMUNICATION: 1, Lane.MEMORY: 2}[lane] for lane in lanes),
        kind=column(KINDS.index(r.kind) if r.kind in KINDS else -1 for r in rows),
        group=column(0 if r.call >= 0 else -1 for r in rows),
        site=column(r.site for r in rows),
        phase=column(r.phase for r in rows),
        call=column(r.call for r in rows),
        launch=column(r.launch for r in rows),
        step=column(-1 for r in rows),
    )


def ranges(*rows: tuple[str, int, int]) -> Ranges:
    starts, ends = (np.asarray([row[i] for row in rows], np.int64) for i in (1, 2))
    return Ranges(tuple(row[0] for row in rows), starts, ends)


def calls(rows: Sequence[tuple[str, int, int, int]], group: ProcessGroup | None = None) -> Calls:
    """Calls as (operation, bytes, issue, step)."""
    signatures = tuple(dict.fromkeys(Signature(op=op, bytes=size, dtype="float32") for op, size, _, _ in rows))
    number = [signatures.index(Signature(op=op, bytes=size, dtype="float32")) for op, size, _, _ in rows]
    nothing = np.full(len(rows), -1, np.int64)
    return Calls(
        groups=(group or ProcessGroup("0", 4),),
        signatures=signatures,
        signature=np.asarray(number, np.int64),
        issue=np.asarray([row[2] for row in rows], np.int64),
        site=nothing,
        phase=nothing,
        step=np.asarray([row[3] for row in rows], np.int64),
        event=nothing,
    )


def timeline(rows: Sequence[K], **more: Any) -> RankTimeline:
    ends = [row.end for row in rows] or [0]
    given: dict[str, Any] = {
        "name": "p.json",
        "rank": 0,
        "world": 1,
        "lanes": "device",
        "base_ns": None,
        "session_start": 0,
        "session_end": max(*ends, 1),
        "devices": (DeviceTimeline("0", kernels(rows)),),
        "steps": ranges(),
        "ranges": ranges(),
        "calls": None,
        "no_calls": "",
        "refused_calls": 0,
        "names": NAMES,
        "rules": RULES,
        "kinds": KINDS,
        "groups": ("0",),
        "sites": SITES,
        "phases": PHASES,
    }
    return RankTimeline(**(given | more))
