"""Shards made by hand: a call is a mapping, times are in ns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = {"wait": -1, "done": -1, "before": 0, "overlap": 0, "early": 0}


def call(issue: int, *, key: int = 0, **times: int) -> dict[str, int]:
    """A call that blocks for 10 ns unless told otherwise."""
    return {**COLUMNS, "wait": issue, "done": issue + 10, "key": key, "issue": issue, **times}


def key(op: str = "all_reduce", **changes: Any) -> dict[str, Any]:
    plain = {"bytes": 64, "in_elements": 16, "out_elements": 16, "dtype": "float32", "group": 0}
    none = {"root": None, "reduction": None, "peer": None, "tag": None}
    return {"op": op, **plain, **none, "phase": "unknown", "device": "cpu", **changes}


def shard(rank: int, calls: list[dict[str, int]], **changes: Any) -> dict[str, Any]:
    names = ("key", "issue", *COLUMNS)
    return {
        "format": "commcanary.capture-shard.v1",
        "session": "s",
        "rank": rank,
        "world_size": 2,
        "backend": "gloo",
        "conflict": None,
        "clock": {"id": "c", "offset_ns": 0, "error_ns": 0},
        "groups": [{"name": "0", "ranks": [0, 1]}],
        "keys": [key()],
        "records": len(calls),
        "columns": {name: [c[name] for c in calls] for name in names},
        "left_out": [],
        **changes,
    }


def written(folder: Path, *shards: dict[str, Any]) -> list[Path]:
    paths = []
    for number, document in enumerate(shards):
        paths.append(folder / f"rank{document['rank']}-{number}.json")
        paths[-1].write_text(json.dumps(document))
    return paths
