"""What a campaign costs beside its work: DAG time, jobs and overhead per cell for 10, 100, 1,000 and 10,000 cells.

    python benchmarks/campaign.py [CELLS ...]        default: 10 100 1000

Overhead per cell is the campaign's CPU time less that of the same cells replayed and compared in one process, shared
among two cores. Bars: at most 0.25 s at 1,000 cells, and imports of a replay job under 0.4 s. The longest job's CPU
time bounds what a kill loses of work (bar: 60 s); of a replay job it is the cell at work alone.
"""

from __future__ import annotations

import csv
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml

from commcanary.campaign.plan import Plan
from commcanary.stages.compare import compare_batch_stage
from commcanary.stages.replay import replay_batch_stage

CORES = 2
SHAPES = {10: (1, 2, 5), 100: (2, 2, 25), 1000: (4, 5, 50), 10000: (20, 5, 100)}
"""Cells -> workloads, representations, configurations."""
METHODS = ("canary", "isolated", "frequency", "random", "cluster")
COMMAND = [sys.executable, "-c", "from commcanary.cli.main import main; main()", "campaign", "run", "bench.yaml", "--"]
BAR_OVERHEAD_S, BAR_IMPORT_S, BAR_JOB_S = 0.25, 0.4, 60.0


def config(cells: int) -> dict[str, Any]:
    """A campaign of so many cells over short traces: nearly all of it is overhead."""
    workloads, representations, configurations = SHAPES[cells]
    return {
        "campaign": "bench",
        "configurations": [
            {"name": "baseline" if i == 0 else f"c{i}", "bandwidth_gbps": 55 - 0.1 * i} for i in range(configurations)
        ],
        "representations": [{"name": method, "method": method} for method in METHODS[:representations]],
        "workloads": [
            {"name": f"w{i}", "source": {"kind": "synth", "name": "inference", "seed": i, "events": 66}}
            for i in range(workloads)
        ],
    }


def run(folder: Path, *arguments: str) -> tuple[float, float, str]:
    """Wall seconds, CPU seconds of all processes, and output of a campaign in ``folder``."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([*COMMAND, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu, done.stdout + done.stderr


def work_seconds(folder: Path) -> float:
    """CPU seconds of replaying and comparing one representation's cells in this process, for all of them."""
    plan = Plan.load(folder / "bench.yaml")
    workload, representation = plan.workloads[0], "canary"
    source = folder / "results" / "bench" / workload / representation
    configurations = [json.loads(json.dumps({"name": str(c.name)})) for c in plan.configurations(workload)]
    with tempfile.TemporaryDirectory() as scratch:
        reports = Path(scratch) / "reports"
        start = time.process_time()
        replay_batch_stage(
            source / "canary.parquet",
            reports / "index-0.json",
            configurations,
            code="benchmark",
            **plan.replay_settings(workload),
        )
        names = [c["name"] for c in configurations]
        index = Path(scratch) / "comparisons" / "index.json"
        compare_batch_stage(reports, names, index, plan.baseline(workload), {}, confidence=None)
        return (time.process_time() - start) * len(list(plan.cells())) / len(names)


def import_seconds() -> float:
    """CPU seconds of what a replay job imports, interpreter included: the least of five."""
    return min(_child_seconds([sys.executable, "-c", "import commcanary.stages.replay"]) for _ in range(5))


def _child_seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def longest_job(folder: Path) -> tuple[float, str]:
    """CPU seconds of the longest job of the campaign that ran in ``folder``, and its rule."""
    files = (folder / "results" / "bench" / "benchmarks").rglob("*.tsv")
    return max(
        (float(next(csv.DictReader(file.open(), delimiter="\t"))["cpu_time"]), file.parent.name) for file in files
    )


def measure(cells: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bench.yaml").write_text(yaml.safe_dump(config(cells)))
        dag, _, text = run(folder, "--cores", str(CORES), "--dry-run", "--quiet", "all")
        _, _, text = run(folder, "--cores", str(CORES), "--dry-run", "--quiet", "rules")
        jobs = re.search(r"^total +(\d+)", text, re.MULTILINE)
        wall, cpu, _ = run(folder, "--cores", str(CORES))
        work = work_seconds(folder)
        longest, rule = longest_job(folder)
        again, _, _ = run(folder, "--cores", str(CORES))
    overhead = (cpu - work) / CORES / cells
    print(
        f"{cells:6d} cells: DAG {dag:6.1f} s, {jobs[1] if jobs else '?':>5} jobs, "
        f"wall {wall:7.1f} s, CPU {cpu:7.1f} s, "
        f"work {work:6.1f} s, overhead {overhead:.3f} s a cell, second run {again:.1f} s, "
        f"longest job {longest:.1f} s of CPU ({rule})"
    )
    if longest > BAR_JOB_S:
        sys.exit(f"a kill may lose {longest:.1f} s of work, over {BAR_JOB_S}")
    if cells == 1000 and overhead > BAR_OVERHEAD_S:
        sys.exit(f"overhead {overhead:.3f} s a cell is over {BAR_OVERHEAD_S}")


if __name__ == "__main__":
    imports = import_seconds()
    print(f"imports of a replay job: {imports:.2f} s of CPU")
    for wanted in [int(text) for text in sys.argv[1:]] or [10, 100, 1000]:
        measure(wanted)
    if imports > BAR_IMPORT_S:
        sys.exit(f"imports take {imports:.2f} s, over {BAR_IMPORT_S}")
