"""Run one job three ways on the CPU, two ranks on gloo: compute alone, communication alone, both at once.

    python resources/overlap_study/run.py --output-dir three-runs

writes ``compute-rank0.json.gz``, ``communication-rank0.json.gz``, ``overlapped-rank0.json.gz``, the same for rank 1,
and ``correctness.json``: the results of both schedules compared. It needs PyTorch with gloo and nothing else.

A step multiplies matrices a few times and reduces a tensor of fixed size. The three ways have the same matrices,
tensors and steps. Alone means alone: the other half of the step is not there. Overlapped means that the reduction
is issued first and waited for behind the matrices.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import socket
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.profiler import ProfilerActivity, profile, schedule

WORLD_SIZE = 2
WARM_UP_STEPS = 2
STEPS = 16
MATRIX = 192
PRODUCTS = 24
ELEMENTS = 1 << 20
SEED = 20250611
WAYS = ("compute", "communication", "overlapped")
TOLERANCE = 1e-6


def step(way: str, left: torch.Tensor, right: torch.Tensor, gradient: torch.Tensor) -> None:
    """One step of the job: ``PRODUCTS`` products in place of ``left``, one all-reduce of ``gradient``."""
    work = None if way == "compute" else dist.all_reduce(gradient, async_op=True)
    if way == "communication":
        assert work is not None
        work.wait()
        return
    for _ in range(PRODUCTS):
        torch.mm(left, right, out=left)
    if work is not None:
        work.wait()


def written(profiler: profile, target: Path) -> None:
    """Write the profile without the host's name and without paths, compressed without a date."""
    with tempfile.TemporaryDirectory() as scratch:
        raw = Path(scratch) / target.name
        profiler.export_chrome_trace(str(raw).removesuffix(".gz"))
        text = Path(str(raw).removesuffix(".gz")).read_text(encoding="utf-8")
    for key, value in (("host_name", "host"), ("traceName", target.name)):
        text = re.sub(rf'("{key}":\s*)"[^"]*"', rf'\g<1>"{value}"', text)
    target.write_bytes(gzip.compress(text.encode(), mtime=0))


def tensors(rank: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The rank's matrices and gradient, the same in every way. ``right`` is orthogonal: products keep their size."""
    generator = torch.Generator().manual_seed(SEED + rank)
    left = torch.randn(MATRIX, MATRIX, generator=generator)
    right = torch.linalg.qr(torch.randn(MATRIX, MATRIX, generator=generator)).Q
    return left, right, torch.randn(ELEMENTS, generator=generator)


def run_rank(rank: int, port: int, output_dir: Path) -> None:
    """Run the rank in all three ways and write its profiles; rank 0 also compares the results."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=WORLD_SIZE)
    results = {}
    for way in WAYS:
        left, right, gradient = tensors(rank)
        dist.barrier()
        with profile(
            activities=[ProfilerActivity.CPU],
            schedule=schedule(wait=0, warmup=WARM_UP_STEPS, active=STEPS, repeat=1),
            on_trace_ready=lambda done, way=way: written(done, output_dir / f"{way}-rank{rank}.json.gz"),
            record_shapes=True,
            profile_memory=True,
        ) as profiler:
            for _ in range(WARM_UP_STEPS + STEPS):
                step(way, left, right, gradient)
                profiler.step()
        results[way] = (left, gradient)
    difference = max(
        float((results["compute"][0] - results["overlapped"][0]).abs().max()),
        float((results["communication"][1] - results["overlapped"][1]).abs().max()),
    )
    if rank == 0:
        found = {
            "compared": "matrices and reduced tensor of rank 0 after the last step, overlapped against alone",
            "largest_difference": difference,
            "tolerance": TOLERANCE,
            "equivalent": difference <= TOLERANCE,
        }
        (output_dir / "correctness.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    dist.destroy_process_group()


def free_port() -> int:
    """A TCP port of the loopback interface that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output-dir", type=Path, required=True)
    folder: Path = parser.parse_args().output_dir.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    mp.spawn(run_rank, args=(free_port(), folder), nprocs=WORLD_SIZE, join=True)
