"""Small profiles written by hand, in the shapes that the profiler's versions write."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def info(
    rank: int = 0, world: int = 2, groups: list[dict[str, Any]] | None = None, backend: str = "nccl"
) -> dict[str, Any]:
    """``distributedInfo`` as torch 2.5 and later write it."""
    if groups is None:
        groups = [group("0", list(range(world)), "default_pg")]
    return {"backend": backend, "rank": rank, "world_size": world, "pg_count": len(groups), "pg_config": groups}


def group(name: str, ranks: Any, description: str = "undefined", size: int | None = None) -> dict[str, Any]:
    return {"pg_name": name, "pg_desc": description, "pg_size": len(ranks) if size is None else size, "ranks": ranks}


def span(name: str, cat: str, ts: float, dur: float, tid: Any = 1, **args: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur, "args": args}


def record(
    collective: str | None = "allreduce",
    ts: float = 100.0,
    dur: float = 10.0,
    elements: int = 1024,
    out: int | None = None,
    dtype: str = "Float",
    ranks: Any = "[0, 1]",
    size: int = 2,
    name: str | None = "0",
    tid: Any = 1,
    **more: Any,
) -> dict[str, Any]:
    """A ``record_param_comms`` with all of its main arguments; a value of None leaves the key out."""
    args = {
        "Collective name": collective,
        "In msg nelems": elements,
        "Out msg nelems": elements if out is None else out,
        "dtype": dtype,
        "Group size": size,
        "Process Group Name": name,
        "Process Group Ranks": ranks,
        **more,
    }
    return span("record_param_comms", "cpu_op", ts, dur, tid, **{k: v for k, v in args.items() if v is not None})


def kernel(name: str, ts: float, dur: float, stream: int = 7, device: int = 0, **args: Any) -> dict[str, Any]:
    event = span(name, "kernel", ts, dur, stream, stream=stream, device=device, **args)
    event["pid"] = device
    return event


def profile(events: list[dict[str, Any]], **head: Any) -> dict[str, Any]:
    head.setdefault("distributedInfo", info())
    return {"schemaVersion": 1, **head, "traceEvents": events, "traceName": "trace.json"}


def written(path: Path, document: Any) -> Path:
    path.write_text(document if isinstance(document, str) else json.dumps(document, indent=2), encoding="utf-8")
    return path
