"""NCCL's functions as its NVTX ranges name them: which communicate, and how their message sizes count."""

from __future__ import annotations

from typing import NamedTuple


class Operation(NamedTuple):
    """An operation and whether its message size is one of as many shares as the communicator has ranks."""

    op: str
    shares: bool


OPERATIONS = {
    "ncclAllReduce": Operation("all_reduce", False),
    "ncclBroadcast": Operation("broadcast", False),
    "ncclBcast": Operation("broadcast", False),
    "ncclReduce": Operation("reduce", False),
    "ncclAllGather": Operation("all_gather", True),
    "ncclReduceScatter": Operation("reduce_scatter", True),
    "ncclAlltoAll": Operation("all_to_all", True),
    "ncclAllToAll": Operation("all_to_all", True),
    "ncclGather": Operation("gather", True),
    "ncclScatter": Operation("scatter", True),
    "ncclSend": Operation("send", False),
    "ncclRecv": Operation("recv", False),
}
"""A size is ``count * typesize`` of one rank's argument: a shard in gathers and scatters, a peer's in all-to-alls."""

ONE_SIDED = frozenset({"ncclPutSignal", "ncclSignal", "ncclWaitSignal"})
"""Move data, but are no collective and no matched message."""

CREATING = frozenset(
    {
        "ncclCommInitRank",
        "ncclCommInitRankConfig",
        "ncclCommInitRankScalable",
        "ncclCommSplit",
        "ncclCommShrink",
        "ncclCommGrow",
        "ncclCommDestroy",
        "ncclCommAbort",
        "ncclCommRevoke",
    }
)
"""Functions whose payload says a process' rank in a communicator; NCCL repeats it where a communicator ends."""

GROUP_START = "ncclGroupStart"
GROUP_END = "ncclGroupEnd"


def is_operation(name: str) -> bool:
    """Whether the range of this function moves data."""
    return name in OPERATIONS or name in ONE_SIDED
