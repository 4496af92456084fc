"""Capture a real two-rank DistributedDataParallel training job on the CPU, gloo over loopback.

The two profiles beside this script were written by it. To write them again::

    python3 -m venv torchenv && torchenv/bin/pip install torch==2.13.0 numpy
    torchenv/bin/python resources/gloo_ddp/capture.py --output-dir resources/gloo_ddp

It needs PyTorch with gloo, which is not a dependency of the package, and nothing else: no GPU, no network
but loopback. Both ranks are processes of this machine and are started from here. Model, data and order of
operations are seeded and the same in every run; the times are real, so they differ between runs.

The job trains an embedding and a multilayer perceptron of uneven layer widths for ``STEPS`` profiled steps.
The small ``bucket_cap_mb`` cuts the gradients into several buckets of different sizes, each of which is one
all-reduce a step. Besides those the job reduces its loss every ``LOSS_EVERY`` steps and gathers the number of
correct predictions of each class once, at the end. DDP's own start-up broadcasts happen before the profile
begins.

Before a profile is written, the host's name and the path of the file are replaced (``neutral_text``); a
profile that still names the host or a path is refused. All other bytes are the profiler's own.
"""

import argparse
import gzip
import os
import re
import socket
import sys
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, record_function, schedule

WORLD_SIZE = 2
WARM_UP_STEPS = 2
STEPS = 24
LOSS_EVERY = 4
SEED = 20240917
BATCH = 32
VOCABULARY = 512
TOKENS = 4
CLASSES = 10
BUCKET_CAP_MB = 0.03125


def build_model() -> nn.Module:
    """Return the model: layers of uneven width, so that gradient buckets come in several sizes."""
    width = 64
    return nn.Sequential(
        nn.Embedding(VOCABULARY, width),
        nn.Flatten(),
        nn.Linear(TOKENS * width, 512),
        nn.ReLU(),
        nn.Linear(512, 448),
        nn.ReLU(),
        nn.Linear(448, 192),
        nn.ReLU(),
        nn.Linear(192, 128),
        nn.ReLU(),
        nn.Linear(128, 64),
        nn.LayerNorm(64),
        nn.Linear(64, CLASSES),
    )


def neutral_text(text: str, output_name: str) -> str:
    """Return a chrome trace's text without the host's name and without paths of the host.

    Only the values of ``host_name`` and ``traceName`` are rewritten; timestamps, operators and arguments keep
    the profiler's own bytes. Raises ValueError if either field is missing, or if the host's name or a string
    that starts like an absolute path is left.
    """
    for field, value in (("host_name", "host"), ("traceName", output_name)):
        text, count = re.subn(rf'("{field}":\s*)"[^"]*"', rf'\g<1>"{value}"', text)
        if count == 0:
            raise ValueError(f"the profile has no field {field!r}: has the profiler's format changed?")
    host = re.escape(socket.gethostname())
    leftover = re.search(rf'\b{host}\b|"(?:/|[A-Za-z]:\\)[^"]*"', text)
    if leftover:
        raise ValueError(f"the profile still holds {leftover[0]!r}: extend neutral_text before sharing it")
    return text


def write_profile(profiler: profile, rank: int, output_dir: Path) -> None:
    """Write the finished profile of one rank as ``rank<r>.pt.trace.json.gz`` (gzip without name or date)."""
    name = f"rank{rank}.pt.trace.json"
    with tempfile.TemporaryDirectory() as scratch:
        raw = Path(scratch) / name
        profiler.export_chrome_trace(str(raw))
        text = neutral_text(raw.read_text(encoding="utf-8"), name)
    (output_dir / f"{name}.gz").write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))


def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    tokens: torch.Tensor,
    labels: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Run one training step; return this rank's loss (scalar) and its correct predictions a class (int64)."""
    with record_function("forward"):
        scores = model(tokens)
        loss = nn.functional.cross_entropy(scores, labels)
    with record_function("backward"):
        loss.backward()
    with record_function("optimizer"):
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return loss.detach(), labels[scores.argmax(dim=1) == labels].bincount(minlength=CLASSES)


def run_rank(rank: int, port: int, output_dir: Path) -> None:
    """Train as one rank of the job under the profiler and write its profile to ``output_dir``."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    dist.init_process_group("gloo", rank=rank, world_size=WORLD_SIZE)
    model = DistributedDataParallel(build_model(), bucket_cap_mb=BUCKET_CAP_MB)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    data = torch.Generator().manual_seed(SEED + 1 + rank)

    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=0, warmup=WARM_UP_STEPS, active=STEPS, repeat=1),
        on_trace_ready=lambda finished: write_profile(finished, rank, output_dir),
        record_shapes=True,
        with_stack=False,
    ) as profiler:
        for step in range(WARM_UP_STEPS + STEPS):
            tokens = torch.randint(VOCABULARY, (BATCH, TOKENS), generator=data)
            labels = torch.randint(CLASSES, (BATCH,), generator=data)
            loss, correct = train_step(model, optimizer, tokens, labels)
            if step % LOSS_EVERY == 0:
                dist.all_reduce(loss)
            if step == WARM_UP_STEPS + STEPS - 1:
                dist.all_gather([torch.empty_like(correct) for _ in range(WORLD_SIZE)], correct)
            profiler.step()
    dist.destroy_process_group()


def free_port() -> int:
    """Return a TCP port of the loopback interface that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main() -> int:
    """Read the arguments, run both ranks to the end and return the exit code."""
    parser = argparse.ArgumentParser(description="Capture the two-rank gloo DDP profile.")
    parser.add_argument("--output-dir", type=Path, required=True, help="folder for the profiles")
    output_dir: Path = parser.parse_args().output_dir.resolve()
    output_dir.mkdir(parents=True, exist_ok=True)
    mp.spawn(run_rank, args=(free_port(), output_dir), nprocs=WORLD_SIZE, join=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
