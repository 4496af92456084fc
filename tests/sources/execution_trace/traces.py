"""Execution traces written by hand: PyTorch's nodes as JSON, Chakra's as protobuf bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]


def varint(value: int) -> bytes:
    value &= 2**64 - 1
    out = bytearray()
    while True:
        out.append((value & 0x7F) | (0x80 if value > 0x7F else 0))
        value >>= 7
        if not value:
            return bytes(out)


def field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


INT32, INT64, UINT32, UINT64, SINT64, BOOL, TEXT = 7, 9, 11, 13, 17, 27, 29


def attribute(name: str, kind: int, value: Any) -> bytes:
    if kind == SINT64:
        value = (value << 1) ^ (value >> 63)
    return field(10, field(1, name.encode()) + field(kind, value.encode() if kind == TEXT else int(value)))


def node(number: int, name: str, kind: int, *attributes: bytes) -> bytes:
    return field(1, number) + field(2, name.encode()) + field(3, kind) + b"".join(attributes)


def collective(
    number: int, kind: int, size: int, as_kind: int = INT64, cpu: bool = False, group: str | None = None
) -> bytes:
    named = (attribute("pg_name", TEXT, group),) if group is not None else ()
    return node(
        number,
        f"collective {number}",
        7,
        attribute("is_cpu_op", BOOL, cpu),
        attribute("comm_type", as_kind, kind),
        attribute("comm_size", as_kind, size),
        *named,
    )


def message(number: int, sends: bool, peer: int, size: int) -> bytes:
    return node(
        number,
        "message",
        5 if sends else 6,
        attribute("comm_dst" if sends else "comm_src", INT32, peer),
        attribute("comm_size", UINT64, size),
        attribute("comm_tag", UINT32, 9),
    )


def chakra(*nodes: bytes) -> bytes:
    head = field(1, b"0.0.4")
    return b"".join(varint(len(part)) + part for part in (head, *nodes))


def job(rank: int) -> bytes:
    """Rank ``rank`` of two: every kind of collective on the group of both, a message, a wrapper, a barrier."""
    return chakra(
        node(1, "aten::mm", 4),
        node(2, "c10d::allreduce_(0)", 7, attribute("is_cpu_op", BOOL, True)),
        collective(3, 0, 4096),
        collective(5, 2, 100, UINT64),
        collective(7, 7, 200, SINT64),
        collective(9, 6, 300, INT32),
        collective(11, 5, 50, UINT32),
        collective(12, 9, 1),
        collective(13, 0, 0),
        message(15, rank == 0, 1 - rank, 77),
    )


EXPECTED = [
    ("all_reduce", 4096),
    ("all_gather", 200),
    ("reduce_scatter", 200),
    ("all_to_all", 300),
    ("broadcast", 50),
    ("point_to_point", 77),
]


def torch_node(
    number: int, name: str, values: list[Any], parent: int = 1, types: Any = None, **attrs: Any
) -> dict[str, Any]:
    return {
        "id": number,
        "name": name,
        "ctrl_deps": parent,
        "inputs": {"values": values, "shapes": [[]] * len(values), "types": types or [""] * len(values)},
        "outputs": {"values": [], "shapes": [], "types": []},
        "attrs": [{"name": key, "type": "x", "value": value} for key, value in attrs.items()],
    }


def record(
    number: int, op: str = "allreduce", rank: int = 0, elements: int = 16, out: int | None = None, **more: Any
) -> dict[str, Any]:
    attrs = {
        "collective_name": op,
        "dtype": "Float",
        "in_msg_nelems": elements,
        "out_msg_nelems": elements if out is None else out,
        "global_rank_start": 0,
        "global_rank_stride": 1,
        "pg_name": "0",
        "pg_desc": "default_pg",
        "pg_size": 2,
        **{key: value for key, value in more.items() if key != "parent"},
    }
    values = [[[5, 6, 0, elements, 4, "cpu"]], [number, False], ["0", "default_pg"], rank, op, [], [], 0, 1, 2]
    return torch_node(number, "record_param_comms", values, more.get("parent", 1), **attrs)


def torch_trace(path: Path, nodes: list[dict[str, Any]], schema: str = "1.1.1-chakra.0.0.4") -> Path:
    path.write_text(json.dumps({"schema": schema, "pid": 1, "time": "", "start_ts": 0, "nodes": nodes, "finish_ts": 1}))
    return path


if __name__ == "__main__":
    for number in (0, 1):
        (Path(__file__).parent / "samples" / f"job.{number}.et").write_bytes(job(number))
