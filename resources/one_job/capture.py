"""Record one two-rank gloo job three ways at once: Kineto profile, execution trace, Flight Recorder dump.

The files beside this script were written by it. To write them again::

    python3 -m venv torchenv && torchenv/bin/pip install torch==2.13.0 numpy
    torchenv/bin/python resources/one_job/capture.py --output-dir resources/one_job

It needs PyTorch with gloo, which is not a dependency of the package. Both ranks are processes of this machine. The
recorder runs from the start of the job, the profiler and the observer of the execution trace from its second step
on: the three see different stretches of one job, and that is what the files are for. Paths and the host's name are
replaced; all else is PyTorch's own.
"""

import argparse
import gzip
import json
import os
import re
import socket
import sys
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.profiler import ExecutionTraceObserver, ProfilerActivity, profile

WORLD_SIZE = 2
STEPS = 4
WARM_UP_STEPS = 1


def step(rank: int, gradients: list[torch.Tensor], hidden: torch.Tensor, tokens: torch.Tensor) -> None:
    """One step: activations to the next stage, three gradient buckets, the tokens' counts gathered."""
    hidden = torch.relu(hidden @ hidden)
    if rank == 0:
        dist.send(hidden, dst=1)
    else:
        dist.recv(hidden, src=0)
    for bucket in gradients:
        dist.all_reduce(bucket)
    dist.all_gather([torch.empty_like(tokens) for _ in range(WORLD_SIZE)], tokens)


def neutral(text: str) -> str:
    """``text`` without the host's name; raises ValueError where an absolute path is left."""
    text = re.sub(r'("(?:host_name|traceName)":\s*)"[^"]*"', r'\1"host"', text).replace(socket.gethostname(), "host")
    left = re.search(r'"(?:/|[A-Za-z]:\\)[^"]*"', text)
    if left:
        raise ValueError(f"{left[0]!r} is left: extend neutral before sharing it")
    return text


def run_rank(rank: int, port: int, output_dir: Path) -> None:
    """Run one rank and write its three files."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    os.environ.update(TORCH_FR_BUFFER_SIZE="200")
    torch.set_num_threads(1)
    torch.manual_seed(rank)
    dist.init_process_group("gloo", rank=rank, world_size=WORLD_SIZE)
    gradients = [torch.ones(count) for count in (9_034, 24_704, 32_768)]
    hidden, tokens = torch.rand(64, 64), torch.arange(10)
    for _ in range(WARM_UP_STEPS):
        step(rank, gradients, hidden, tokens)
    with tempfile.TemporaryDirectory() as scratch:
        raw = Path(scratch) / "et.json"
        observer = ExecutionTraceObserver().register_callback(str(raw))
        with profile(activities=[ProfilerActivity.CPU], record_shapes=True, execution_trace_observer=observer) as seen:
            for _ in range(STEPS):
                step(rank, gradients, hidden, tokens)
        seen.export_chrome_trace(str(Path(scratch) / "kineto.json"))
        for source, name in (("kineto.json", f"rank{rank}.pt.trace.json.gz"), ("et.json", f"et_rank{rank}.json.gz")):
            text = neutral((Path(scratch) / source).read_text(encoding="utf-8"))
            (output_dir / name).write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))
    dumped = json.loads(torch._C._distributed_c10d._dump_fr_trace_json(includeCollectives=True))
    dumped["entries"] = [{k: v for k, v in entry.items() if k != "frames"} for entry in dumped["entries"]]
    (output_dir / f"fr_rank{rank}.json").write_text(neutral(json.dumps(dumped, sort_keys=True, indent=0)))
    dist.destroy_process_group()


def main() -> int:
    """Run both ranks to the end."""
    parser = argparse.ArgumentParser(description="Record one gloo job three ways.")
    parser.add_argument("--output-dir", type=Path, required=True)
    output_dir: Path = parser.parse_args().output_dir.resolve()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    mp.spawn(run_rank, args=(port, output_dir), nprocs=WORLD_SIZE, join=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
