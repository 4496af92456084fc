"""Write two logs in the layout of nccl-tests from a stated law: no machine was measured.

    python resources/nccl_tests/make.py resources/nccl_tests

``old.log`` and ``new.log`` are all-reduces of 8 ranks from 1 KiB to 256 MiB. Times are startup + bytes / bandwidth
with a fixed ripple of two percent; the new library starts more slowly and is a little faster in bandwidth.
"""

from __future__ import annotations

import sys
from pathlib import Path

RANKS = 8
SIZES = [1 << power for power in range(10, 29)]
LAWS = {"old": (24.0, 118.0), "new": (29.0, 124.0)}
"""Startup in us and bandwidth in GB/s."""

RIPPLE = (0.0, 0.012, -0.018, 0.007, -0.005)


def printed(value: float, width: int) -> str:
    """A number as nccl-tests prints it: fewer decimals the larger it is."""
    whole = len(str(int(value)))
    decimals = 2 if whole < width - 2 else 1 if whole < width - 1 else 0
    return f"{value:{width}.{decimals}f}"


def side(size: int, time: float) -> str:
    """Time, algorithm bandwidth, bus bandwidth, wrong elements."""
    algbw = size / time / 1000
    busbw = algbw * 2 * (RANKS - 1) / RANKS
    return f"  {printed(time, 7)}  {printed(algbw, 6)}  {printed(busbw, 6)}       0"


def log(startup: float, bandwidth: float) -> str:
    """One whole log."""
    lines = [
        "# nccl-tests version 2.17.1 nccl-headers=0 nccl-library=0",
        "# Collective test starting: all_reduce_perf",
        f"# nThread 1 nGpus {RANKS} minBytes {SIZES[0]} maxBytes {SIZES[-1]} step: 2(factor) warmup iters: 1 iters: 20 "
        "agg iters: 1 validation: 1 graph: 0",
        "#",
        "# Using devices",
        *(f"#  Rank {r:2d} Group  0 Pid   1000 on synthetic device {r:2d} [0000:00:00] none" for r in range(RANKS)),
        "#",
        "#       size         count      type   redop    root     time   algbw   busbw  #wrong"
        "     time   algbw   busbw  #wrong",
    ]
    for index, size in enumerate(SIZES):
        time = startup + size / (bandwidth * 1000)
        sides = [side(size, time * (1 + RIPPLE[(index + shift) % len(RIPPLE)])) for shift in (0, 2)]
        lines.append(f"{size:12d}  {size // 4:12d}     float     sum      -1{''.join(sides)}")
    return "\n".join([*lines, "# Out of bounds values : 0 OK", "# Avg bus bandwidth    : 0", "#"]) + "\n"


if __name__ == "__main__":
    for name, law in LAWS.items():
        (Path(sys.argv[1]) / f"{name}.log").write_text(log(*law), encoding="utf-8")
