"""Overlap of a large profile as a whole process, beside Holistic Trace Analysis; and a million kernels in memory.

    python benchmarks/overlap.py [--kernels 100000] [--hta PYTHON] [--repeats 3] [--keep FILE]

Writes a profile of one rank in the profiler's own layout (100,000 kernels are about 150 MB), measures it with
``commcanary overlap`` in a child process and, where ``--hta`` names the interpreter of an environment that has
HolisticTraceAnalysis (a dependency of this benchmark alone), with that as well. Both must find the same overlap.
Then measures a million kernels that are already in memory. The file is removed unless ``--keep`` names it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from commcanary.artifacts.events import ProcessGroup, Signature
from commcanary.timeline.kernels import Kernels, Lane
from commcanary.timeline.late_ranks import Meetings
from commcanary.timeline.measure import OverlapSettings, measure
from commcanary.timeline.rank_timeline import Calls, DeviceTimeline, Ranges, RankTimeline

HEAD = """{
  "schemaVersion": 1,
  "deviceProperties": [],
  "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 8, "pg_count": 1, "pg_config": [
    {"pg_name": "0", "pg_desc": "default_pg", "pg_size": 8, "ranks": [0, 1, 2, 3, 4, 5, 6, 7]}]},
  "baseTimeNanoseconds": 1790857026000000000,
  "traceEvents": [
"""

STEP = """  {{
    "ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{number}", "pid": 27099, "tid": 27099,
    "ts": {ts:.3f}, "dur": {dur:.3f},
    "args": {{
      "External id": {id},"Record function id": 0, "Ev Idx": {id}
    }}
  }},
"""

OPERATOR = """  {{
    "ph": "X", "cat": "cpu_op", "name": "{name}", "pid": 27099, "tid": 27099,
    "ts": {ts:.3f}, "dur": {dur:.3f},
    "args": {{
      "External id": {id},"Record function id": 0, "Concrete Inputs": ["", "", "1", "1"],
      "Input type": ["float", "float", "Scalar", "Scalar"], "Input Strides": [[1024, 1], [1, 1024], [], []],
      "Input Dims": [[2048, 1024], [1024, 1024], [], []], "Ev Idx": {id}
    }}
  }},
"""

RECORD = """  {{
    "ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 27099, "tid": 27099,
    "ts": {ts:.3f}, "dur": {dur:.3f},
    "args": {{
      "External id": {id},"Record function id": 0, "Rank": 0, "Process Group Ranks": "[0, 1, 2, 3, 4, 5, 6, 7]",
      "Process Group Name": "0", "Group size": 8, "Out msg nelems": 1048576, "Collective name": "allreduce",
      "dtype": "Float", "Ev Idx": {id}, "In msg nelems": 1048576, "Global rank start": 0, "Global rank stride": 1
    }}
  }},
"""

LAUNCH = """  {{
    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 27099, "tid": 27099,
    "ts": {ts:.3f}, "dur": 4.115,
    "args": {{
      "External id": {id}, "cbid": 211, "correlation": {id}
    }}
  }},
"""

KERNEL = """  {{
    "ph": "X", "cat": "kernel", "name": "{name}", "pid": 0, "tid": {stream},
    "ts": {ts:.3f}, "dur": {dur:.3f},
    "args": {{
      "External id": {id}, "queued": 0, "device": 0, "context": 1, "stream": {stream}, "correlation": {id},
      "registers per thread": 72, "shared memory": 49152, "blocks per SM": 1.185185, "warps per SM": 9.481482,
      "grid": [8, 16, 1], "block": [256, 1, 1], "est. achieved occupancy %": 15{more}
    }}
  }},
"""

METADATA = """,
      "Collective name": "allreduce", "In msg nelems": 1048576, "Out msg nelems": 1048576, "Group size": 8,
      "dtype": "Float", "Process Group Name": "0", "Process Group Ranks": "[0, 1, 2, 3, 4, 5, 6, 7]\""""

NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)"
COMPUTE = (
    "ampere_sgemm_128x128_nn",
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)",
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(at::native::ReduceOp<float>)",
)
OPERATORS = ("aten::linear", "aten::addmm", "aten::mul")
STEP_KERNELS = 1000
COLLECTIVE_EVERY = 25


def write_profile(path: Path, kernels: int) -> None:
    """``kernels`` kernels, one in ``COLLECTIVE_EVERY`` of them a collective on a stream of its own."""
    with path.open("w") as out:
        out.write(HEAD)
        device = 5_106_622_405_197.222
        for number in range(kernels):
            host, identity = 5_106_622_405_000.111 + 60 * number, 4 * number + 10
            if number % STEP_KERNELS == 0:
                step = number // STEP_KERNELS
                out.write(STEP.format(number=step, ts=host - 5, dur=60 * STEP_KERNELS - 1, id=identity + 3))
            for depth, name in enumerate(OPERATORS):
                out.write(OPERATOR.format(name=name, ts=host + depth, dur=40 - 2 * depth, id=identity + depth))
            inner = identity + len(OPERATORS) - 1
            if number % COLLECTIVE_EVERY == 0:
                out.write(RECORD.format(ts=host + 4, dur=20, id=inner))
                out.write(
                    KERNEL.format(name=NCCL, stream=20, ts=device + 3, dur=260.5 + number % 91, id=inner, more=METADATA)
                )
            else:
                name = COMPUTE[number % len(COMPUTE)]
                out.write(KERNEL.format(name=name, stream=7, ts=device, dur=20.25 + number % 17, id=inner, more=""))
                device += 20.25 + number % 17 + (0.75 if number % 11 else 130)
            out.write(LAUNCH.format(ts=host + 10, id=inner))
        out.write('  {"ph": "i", "s": "g", "name": "Record Window End", "ts": 5106622405197, "pid": "", "tid": ""}\n')
        out.write('  ],\n  "traceName": "benchmark.json"\n}\n')


OURS = """
import sys
sys.argv = ["commcanary", "overlap", sys.argv[1], "-o", sys.argv[2]]
from commcanary.cli.main import main
main()
"""

THEIRS = """
import sys
from hta.trace_analysis import TraceAnalysis
analysis = TraceAnalysis(trace_files={0: sys.argv[1]}, include_last_profiler_step=True)
print(analysis.get_comm_comp_overlap(visualize=False)["comp_comm_overlap_pctg"].iloc[0])
"""


def timed(command: list[str]) -> tuple[float, str]:
    """Wall-clock seconds of a process from start to end, and what it printed."""
    started = time.perf_counter()
    # both measure nanoseconds: HTA's rounding of them is its own habit, and costs it time
    environment = {**os.environ, "HTA_DISABLE_NS_ROUNDING": "1"}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return time.perf_counter() - started, done.stdout.strip()


def compare_processes(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = options.keep or Path(folder) / "benchmark.pt.trace.json"
        if not path.exists():
            write_profile(path, options.kernels)
        size = path.stat().st_size / 1e6
        output = Path(folder) / "overlap.json"
        ours = min(timed([sys.executable, "-c", OURS, str(path), str(output)])[0] for _ in range(options.repeats))
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        found = json.loads(output.read_text())["devices"][0]["main"]["overlap_pct"]
        print(f"commcanary: {size:.0f} MB in {ours:.2f} s ({size / ours:.0f} MB/s), peak {peak:.0f} MB, {found:.2f} %")
        if options.hta is None:
            return
        theirs, printed = min(timed([options.hta, "-c", THEIRS, str(path)]) for _ in range(options.repeats))
        other = float(printed.splitlines()[-1])
        print(f"Holistic Trace Analysis: {theirs:.2f} s, {other:.2f} %; commcanary is {theirs / ours:.1f}x faster")
        if abs(other - found) > 0.01:
            sys.exit(f"the two disagree: {found} and {other}")


def in_memory(count: int) -> RankTimeline:
    """A timeline of ``count`` kernels on one device, one in ``COLLECTIVE_EVERY`` a collective with a call."""
    rng = np.random.default_rng(7)
    start = np.cumsum(rng.integers(0, 30_000, count))
    number = np.arange(count)
    communicating = number % COLLECTIVE_EVERY == 0
    calls = int(communicating.sum())
    call = np.where(communicating, np.cumsum(communicating) - 1, -1)
    steps = np.arange(0, count, STEP_KERNELS)
    kernels = Kernels(
        start=start,
        end=start + rng.integers(0, 40_000, count),
        lane=np.where(communicating, Lane.COMMUNICATION, Lane.COMPUTE).astype(np.int64),
        name=number % 3,
        stream=number % 2,
        rule=communicating.astype(np.int64),
        kind=np.where(communicating, number % 3, -1),
        group=np.where(communicating, 0, -1),
        site=np.where(communicating, number % 40, -1),
        phase=number % 3,
        call=call,
        launch=start - 100_000,
        step=number // STEP_KERNELS,
    )
    of_call = np.flatnonzero(communicating)
    signatures = tuple(Signature(op="all_reduce", bytes=4096 * (1 + i), dtype="float32") for i in range(64))
    return RankTimeline(
        name="memory",
        rank=0,
        world=1,
        lanes="device",
        base_ns=None,
        session_start=0,
        session_end=int(kernels.end.max()),
        devices=(DeviceTimeline("0", kernels),),
        steps=Ranges(
            tuple(f"ProfilerStep#{i}" for i in range(len(steps))),
            start[steps],
            np.append(start[steps[1:]], start[-1] + 1),
        ),
        ranges=Ranges((), np.zeros(0, np.int64), np.zeros(0, np.int64)),
        calls=Calls(
            (ProcessGroup("0", 8),),
            signatures,
            np.arange(calls) % 64,
            start[of_call],
            of_call % 40,
            of_call % 3,
            of_call // STEP_KERNELS,
            of_call,
        ),
        no_calls="",
        refused_calls=0,
        names=("a", "b", "c"),
        rules=("no rule: compute", "nccl"),
        kinds=("all_reduce", "all_gather", "reduce_scatter"),
        groups=("0",),
        sites=tuple(f"site {i}" for i in range(40)),
        phases=("forward", "backward", "optimizer"),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", type=int, default=100_000)
    parser.add_argument("--hta", help="Python interpreter of an environment with HolisticTraceAnalysis")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    compare_processes(options)
    timeline = in_memory(1_000_000)
    started = time.perf_counter()
    measure([timeline], Meetings(unknown="one rank"), OverlapSettings())
    print(f"a million kernels and {len(timeline.steps)} steps in memory: {time.perf_counter() - started:.2f} s")


if __name__ == "__main__":
    main()
