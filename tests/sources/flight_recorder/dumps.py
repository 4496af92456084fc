"""Dumps written by hand, as PyTorch 2.14 writes them."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any


def entry(
    number: int,
    name: str = "nccl:all_reduce",
    elements: int = 100,
    seq: int | None = None,
    group: tuple[str, str] = ("0", "default_pg"),
    record: int | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Call ``number`` of a rank; its sequence number is one more unless given."""
    return {
        "record_id": number if record is None else record,
        "pg_id": 0,
        "process_group": list(group),
        "collective_seq_id": number + 1 if seq is None else seq,
        "p2p_seq_id": 0,
        "op_id": number + 1,
        "profiling_name": name,
        "time_created_ns": 1_790_000_000_000_000_000 + 1_000_000 * number,
        "input_sizes": [[elements]],
        "input_dtypes": ["Float"],
        "output_sizes": [[elements]],
        "output_dtypes": ["Float"],
        "state": "completed",
        "time_discovered_started_ns": 0,
        "time_discovered_completed_ns": 0,
        "retired": True,
        "timeout_ms": 600000,
        "is_p2p": False,
        **more,
    }


def dump(entries: list[dict[str, Any]], world: int = 2, **more: Any) -> dict[str, Any]:
    config = {"0": {"name": "0", "desc": "default_pg", "ranks": str(list(range(world)))}}
    return {
        "version": "2.10",
        "pg_config": config,
        "pg_status": {},
        "comm_lib_version": "2.27.3",
        "entries": entries,
        **more,
    }


def written(path: Path, document: Any, pickled: bool = False) -> Path:
    path.write_bytes(pickle.dumps(document) if pickled else json.dumps(document).encode())
    return path


if __name__ == "__main__":
    for rank in (0, 1):
        calls = [entry(0), entry(1, "nccl:_all_gather_base", 8, output_sizes=[[16]]), entry(2, "nccl:broadcast", 4)]
        written(Path(__file__).parent / "samples" / f"dump_rank_{rank}.json", dump(calls))
