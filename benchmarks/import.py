"""Import of a large profile as a whole process: seconds, and memory at its peak.

    python benchmarks/import.py [--calls 1000000] [--keep FILE]

Writes a profile of one rank (a million calls are about 640 MB, in the profiler's own layout), imports it in a
child process and prints what that took. The file is removed unless ``--keep`` names it.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from measured_child import measured_import

HEAD = """{
  "schemaVersion": 1,
  "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 8, "pg_count": 1, "pg_config": [
    {"pg_name": "0", "pg_desc": "default_pg", "pg_size": 8, "ranks": [0, 1, 2, 3, 4, 5, 6, 7]}]},
  "baseTimeNanoseconds": 1790857026000000000,
  "traceEvents": [
"""

EVENT = """  {{
    "ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 27099, "tid": 27099,
    "ts": {ts:.3f}, "dur": 12.345,
    "args": {{
      "External id": {id},"Record function id": {id}, "Is asynchronized op": true, "Seq": {id}, "Rank": 0,
      "Process Group Ranks": "[0, 1, 2, 3, 4, 5, 6, 7]", "Comms Id": {comms}, "Process Group Name": "0",
      "Group size": 8, "Out msg nelems": {count}, "Process Group Description": "default_pg",
      "Collective name": "{op}", "dtype": "BFloat16", "Ev Idx": {id}, "In msg nelems": {count},
      "Global rank start": 0, "Out split size": "[]", "In split size": "[]", "Global rank stride": 1
    }}
  }}"""

CHILD = """
import sys
from commcanary.artifacts.files import write_artifact
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.artifacts.trace_table import to_stored
from commcanary.sources.kineto.importer import import_kineto
imported = import_kineto([sys.argv[1]])
write_artifact(sys.argv[2], TRACE, to_stored(imported.trace))
print(imported.summary)
"""


def write_profile(path: Path, calls: int) -> None:
    with path.open("w") as out:
        out.write(HEAD)
        for number in range(calls):
            out.write(
                EVENT.format(
                    ts=5_106_622_405_197.222 + 50 * number,
                    id=number + 4,
                    comms=10_159_970_886_764_003_409 + number,
                    count=1024 * (1 + number % 7),
                    op=("allreduce", "broadcast")[number % 3 == 0],
                )
            )
            out.write(",\n" if number + 1 < calls else "\n")
        out.write('  ],\n  "traceName": "benchmark.json"\n}\n')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.keep or Path(folder) / "benchmark.pt.trace.json"
        if not path.exists():
            write_profile(path, options.calls)
        measured_import(CHILD, path)


if __name__ == "__main__":
    main()
