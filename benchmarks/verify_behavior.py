"""The whole process of verify-behavior: wall and CPU seconds, and the most memory that it held.

    python benchmarks/verify_behavior.py [EVENTS [REPEATS]]

A trace of EVENTS (default 10,000) mixed events on 8 ranks and its lossless canary, both in Parquet, under the five
named configurations. Each figure is that of the fastest of REPEATS (default 5) processes, after one that fills
Numba's cache and Python's; start, imports, reading, verification and writing all count.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMAND = [sys.executable, "-c", "from commcanary.cli.main import main; main()"]


def run(*arguments: str) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and the largest resident MB of one command."""
    began = time.perf_counter()
    child = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"commcanary {' '.join(arguments)} ended with status {status}")
    return time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> None:
    """Print one line per container of the trace."""
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # a user's processes keep their bytecode
    with tempfile.TemporaryDirectory() as name:
        trace, canary, verified = (str(Path(name) / part) for part in ("t.parquet", "c.parquet", "v.json"))
        run("synth", "mixed", "-o", trace, "--events", str(events))
        run("compile", trace, "-o", canary)
        run("verify-behavior", trace, canary, "-o", verified)
        found = [run("verify-behavior", trace, canary, "-o", verified) for _ in range(repeats)]
    wall, cpu, memory = (min(figures) for figures in zip(*found, strict=True))
    load = os.getloadavg()[0]
    print(f"{events} events: {wall:.2f} s wall, {cpu:.2f} s CPU, {memory:.0f} MB (load {load:.1f})")


if __name__ == "__main__":
    main()
