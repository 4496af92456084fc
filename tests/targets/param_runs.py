"""Runs of a real PARAM checkout on the loopback interface, one process per rank."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

LAUNCHER = Path(__file__).with_name("launch_param.py")
SECONDS = 30
REPLAY_MODULE = "param_bench.train.comms.pt.commsTraceReplay"


@dataclass(frozen=True)
class Run:
    """Exit codes and stderr by rank; ``replayed[rank]`` counts entries per operation, None without a file."""

    codes: list[int | None]
    stderr: list[str]
    replayed: list[dict[str, int] | None]
    records: list[list[dict[str, object]]]


def replay(
    python: str, checkout: Path, trace: Path, folder: Path, ranks: int, *options: str, launcher: bool = True
) -> Run:
    """Replay ``trace`` with gloo; a rank that has not ended after ``SECONDS`` is killed and has the code None."""
    root = folder / "pyroot"
    root.mkdir(parents=True)
    (root / "param_bench").symlink_to(checkout)
    (root / "et_replay").symlink_to(checkout / "et_replay")
    output = folder / "out"
    start = [str(LAUNCHER)] if launcher else ["-m", REPLAY_MODULE]
    arguments = ["--trace-path", str(trace), "--use-one-trace", "--backend", "gloo", "--device", "cpu"]
    port = _free_port()
    children = [
        subprocess.Popen(
            [python, *start, *arguments, "--output-path", str(output), *options],
            env=os.environ | _environment(root, rank, ranks, port),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(ranks)
    ]
    codes: list[int | None] = []
    stderr = []
    end = time.monotonic() + SECONDS
    for child in children:
        try:
            stderr.append(child.communicate(timeout=max(0.1, end - time.monotonic()))[1])
            codes.append(child.returncode)
        except subprocess.TimeoutExpired:
            child.kill()
            stderr.append(child.communicate()[1])
            codes.append(None)
    files = [output / f"replayedCommsPerf.rank{rank}.json" for rank in range(ranks)]
    records = [json.loads(file.read_text()) if file.exists() else [] for file in files]
    counts = [
        dict(sorted(Counter(r["comms"] for r in rows).items())) if file.exists() else None
        for file, rows in zip(files, records, strict=True)
    ]
    return Run(codes, stderr, counts, records)


def _environment(root: Path, rank: int, ranks: int, port: int) -> dict[str, str]:
    return {
        "PYTHONPATH": str(root),
        "GLOO_SOCKET_IFNAME": "lo",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(ranks),
        "LOCAL_SIZE": str(ranks),
        "OMP_NUM_THREADS": "1",
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
