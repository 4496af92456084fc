"""Operations as the Inspector names them, and how their message sizes count."""

from __future__ import annotations

from typing import NamedTuple


class Operation(NamedTuple):
    """An operation, and whether its message size is one of as many shares as the communicator has ranks."""

    op: str
    shares: bool


COLLECTIVES = {
    "AllReduce": Operation("all_reduce", False),
    "AllGather": Operation("all_gather", True),
    "ReduceScatter": Operation("reduce_scatter", True),
    "Broadcast": Operation("broadcast", False),
    "Reduce": Operation("reduce", False),
}
"""The plugin states the count that the job gave NCCL times the size of an element (``inspectorPluginCollInfoInit`` in
``plugins/profiler/inspector/inspector_plugin.cc``): a shard where each rank gives or gets one, which its own bandwidth
multiplies by the ranks (``inspectorComputeOpBw``). NCCL runs all-to-all, gather and scatter as messages.
"""

MESSAGES = {"Send": "send", "Recv": "recv"}
