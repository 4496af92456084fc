"""Lines of NCCL's debug log as NCCL 2.30 writes them, by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

WORLD = "0x9f3c27a5d1e06b42"
AT = "0x55d0c0de1000"


def said(text: str, rank: int = 0, stamp: str = "", pid: int | None = None, device: int = 0) -> str:
    """One INFO line of the process that has this rank, after a time stamp with its space."""
    number = 4000 + rank if pid is None else pid
    return f"{stamp}node-0:{number}:{number + 7} [{device}] NCCL INFO {text}"


def call(
    name: str = "AllReduce",
    count: int = 100,
    datatype: int = 7,
    operator: int = 0,
    root: int = 0,
    at: str = AT,
    ranks: int = 2,
    op_count: str = "0",
) -> str:
    return (
        f"{name}: opCount {op_count} sendbuff 0x7f0200000000 recvbuff 0x7f0300000000 count {count} datatype {datatype} "
        f"op {operator} root {root} comm {at} [nranks={ranks}] stream 0x55d0c00a0000"
    )


def created(
    rank: int, ranks: int = 2, at: str = AT, name: str = WORLD, device: int = 0, what: str = "Init COMPLETE"
) -> str:
    """A communicator of ``ncclCommInitRank``."""
    before = f"[Rank {rank}] " if what == "Init START" else ""
    return (
        f"{before}ncclCommInitRank comm {at} rank {rank} nranks {ranks} cudaDev {device} nvmlDev {device} busId 1000 "
        f"commId {name} - {what}"
    )


def split(
    rank: int, ranks: int, at: str, parent: str = AT, child: int = 1, color: int = 0, what: str = "Init COMPLETE"
) -> str:
    """A communicator of ``ncclCommSplit``; the word before the dash is glued to it where it starts."""
    dash = "-" if what == "Init START" else " -"
    return (
        f"ncclCommSplit comm {at} rank {rank} nranks {ranks} cudaDev 0 nvmlDev 0 busId 1000 parent {parent} "
        f"childCount {child} color {color} key {rank}{dash} {what}"
    )


def ended(rank: int, ranks: int = 2, at: str = AT, what: str = "Destroy") -> str:
    return f"comm {at} rank {rank} nranks {ranks} cudaDev 0 busId 1000 - {what} COMPLETE"


def written(path: Path, lines: Iterable[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def job(folder: Path, *ranks: Iterable[str]) -> list[Path]:
    """A log a rank: a communicator of as many ranks, then the given texts."""
    return [
        written(
            folder / f"log.node-0.{4000 + rank}",
            ["node-0:1:1 [0] some other library", *(said(text, rank) for text in [created(rank, len(ranks)), *texts])],
        )
        for rank, texts in enumerate(ranks)
    ]
