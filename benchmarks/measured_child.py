"""One import in a process of its own: seconds, and memory at its peak."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PEAK = """
import re
print("peak", int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) // 1024)
"""
"""The child's own high-water mark: ``ru_maxrss`` of a child starts at what its parent had."""


def measured_import(program: str, path: Path) -> None:
    """Run ``program`` on ``path`` and a Parquet output; print its own line, MB/s, peak memory, processor time."""
    size = path.stat().st_size / 1e6
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", program + PEAK, str(path), f"{folder}/trace.parquet"],
            check=True,
            capture_output=True,
            text=True,
        )
        seconds = time.perf_counter() - started
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    *told, peak = done.stdout.strip().splitlines()
    print(*told, sep="\n")
    print(f"{size:.0f} MB in {seconds:.2f} s ({size / seconds:.0f} MB/s), {peak} MB")
    print(f"{used.ru_utime + used.ru_stime:.2f} s of processor time on all cores")
