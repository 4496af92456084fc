"""Logs of nccl-tests written by hand, in the layouts that its versions print."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NEW_HEADING = "#   size   count   type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong"
OLD_HEADING = (
    "#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error"
)


def devices(ranks: int) -> list[str]:
    return ["# Using devices"] + [
        f"#  Rank {r:2d} Group  0 Pid {1000 + r:6d} on       host device {r:2d} [0000:0{r}:00] GPU"
        for r in range(ranks)
    ]


def side(size: int, us: float, factor: float = 1.5, wrong: str = "0") -> str:
    bandwidth = size / us / 1000
    return f"{us:.2f} {bandwidth:.2f} {bandwidth * factor:.2f} {wrong}"


def new_row(size: int, us: float, factor: float = 1.5, in_place_us: float | None = None) -> str:
    sides = f"{side(size, us, factor)} {side(size, us if in_place_us is None else in_place_us, factor)}"
    return f"{size:12d} {size // 4:12d} float sum -1 {sides}"


def new_log(rows: Iterable[str], ranks: int = 4, program: str = "all_reduce_perf", heading: str = NEW_HEADING) -> str:
    lines: Sequence[str] = [
        "# nccl-tests version 2.17.1 nccl-headers=22803 nccl-library=22803",
        f"# Collective test starting: {program}",
        "# nThread 1 nGpus 4 minBytes 1024 maxBytes 1048576 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 "
        "validation: 1 graph: 0",
        *devices(ranks),
        heading,
        "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)",
        *rows,
        "# Out of bounds values : 0 OK",
        "# Avg bus bandwidth    : 10.1 ",
    ]
    return "\n".join(lines) + "\n"


def report(results: list[dict[str, Any]], ranks: int = 4, **more: Any) -> str:
    document: dict[str, Any] = {
        "version": "2.17.1",
        "nccl_version": 22803,
        "args": ["./build/all_reduce_perf", "-g", "4"],
        "config": {"nthreads": 1, "devices": [{"rank": r, "group": 0, "pid": r} for r in range(ranks)]},
        "results": results,
        "out_of_bounds": {"count": 0, "okay": True},
        "average_bus_bandwidth": {"bandwidth": 10.0, "okay": "unchecked"},
        "errors": [],
    }
    return json.dumps({**document, **more})


def result(size: int, us: float, **more: Any) -> dict[str, Any]:
    timing = {"time": us, "alg_bw": size / us / 1000, "bus_bw": 1.5 * size / us / 1000, "nwrong": 0}
    return {
        "size": size,
        "count": size // 4,
        "type": "float",
        "redop": "sum",
        "root": "    -1",
        "out_of_place": None,
        "in_place": timing,
        "actual_iterations": 20,
        "experiment_name": "x",
        **more,
    }
