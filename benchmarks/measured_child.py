"""One import in a process of its own: seconds, and memory at its peak."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def measured_import(program: str, path: Path) -> None:
    """Run ``program`` on ``path`` and a Parquet output; print its own line, MB/s, peak memory, processor time."""
    size = path.stat().st_size / 1e6
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", program, str(path), f"{folder}/trace.parquet"],
            check=True,
            capture_output=True,
            text=True,
        )
        seconds = time.perf_counter() - started
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak, cpu = used.ru_maxrss / 1024, used.ru_utime + used.ru_stime
    print(done.stdout.strip())
    print(f"{size:.0f} MB in {seconds:.2f} s ({size / seconds:.0f} MB/s), peak {peak:.0f} MB")
    print(f"{cpu:.2f} s of processor time on all cores")
