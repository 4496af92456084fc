"""Import of a large Nsight Systems export as a whole process: seconds, and memory at its peak.

    python benchmarks/import_nsys.py [--kernels 1000000] [--keep FILE]

Writes an export of eight ranks with one NCCL call to every nine kernels of compute, imports it in a child process
and prints what that took. The file is removed unless ``--keep`` names it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from measured_child import measured_import

RANKS, TO_ONE_CALL, VM, PROCESS = 8, 9, 1 << 48, 1 << 24

CHILD = """
import sys
from commcanary.artifacts.files import write_artifact
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.artifacts.trace_table import to_stored
from commcanary.sources.nsys.importer import import_nsys
imported = import_nsys([sys.argv[1]])
write_artifact(sys.argv[2], TRACE, to_stored(imported.trace))
print(imported.summary, *imported.counts[:1], sep="\\n")
"""


def write_export(path: Path, kernels: int) -> None:
    sys.path.insert(0, str(Path(__file__).parents[1] / "resources" / "nsys"))
    from make import GEMM, REDUCE, WORLD, ExportWriter

    out = ExportWriter(path)
    reduce, gemm, name, launch = (out.string(s) for s in (REDUCE, GEMM, "ncclAllReduce", "cudaLaunchKernelExC_v11060"))
    for rank in range(RANKS):
        out.nccl(100 + rank, "ncclCommInitRank", 0, 9, comm=WORLD, ranks=RANKS, rank=rank, device=rank)
    blob = out.blob("ncclAllReduce", comm=WORLD, bytes=1 << 20, redop=0)
    kernel_rows, runtime_rows, range_rows = [], [], []
    correlation = 0
    for step in range(kernels // RANKS // (TO_ONE_CALL + 1)):
        for rank in range(RANKS):
            pid, at = 100 + rank, 100_000 + 100_000 * step
            process, thread = VM + pid * PROCESS, VM + pid * PROCESS + pid
            for number in range(TO_ONE_CALL + 1):
                call = number == TO_ONE_CALL
                correlation += 1
                start = at + 9_000 * number + 700
                kernel_rows.append(
                    (
                        start,
                        start + 8_000,
                        rank,
                        1,
                        13 if call else 7,
                        correlation,
                        process,
                        *(2 * [reduce if call else gemm]),
                    )
                )
                runtime_rows.append((start - 500, start - 400, 0, thread, correlation, launch, 0))
                if call:
                    range_rows.append((start - 600, start - 300, 59, thread, name, 1, blob))
    out.connection.executemany(
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId, globalPid, "
        "demangledName, shortName) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        kernel_rows,
    )
    out.connection.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?, ?, ?, ?)", runtime_rows)
    out.connection.executemany(
        "INSERT INTO NVTX_EVENTS (start, end, eventType, globalTid, textId, domainId, binaryData) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        range_rows,
    )
    out.done()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", type=int, default=1_000_000)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.keep or Path(folder) / "benchmark.sqlite"
        if not path.exists():
            write_export(path, options.kernels)
        measured_import(CHILD, path)


if __name__ == "__main__":
    main()
