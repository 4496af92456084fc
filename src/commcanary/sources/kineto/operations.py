"""The many names of one operation: in records, in ``c10d::`` operators, in annotations, in kernels."""

from __future__ import annotations

import re

from commcanary.artifacts.events import REDUCING

CONTROL = "control"
"""Calls that move no data of the job: waits, barriers, set-up."""

_RECORDED = {
    "allreduce": "all_reduce",
    "all_reduce": "all_reduce",
    "allreduce_coalesced": "all_reduce",
    "_allgather_base": "all_gather",
    "_all_gather_base": "all_gather",
    "allgather": "all_gather",
    "all_gather": "all_gather",
    "all_gather_into_tensor": "all_gather",
    "allgather_coalesced": "all_gather",
    "allgather_into_tensor_coalesced": "all_gather",
    "_reduce_scatter_base": "reduce_scatter",
    "reduce_scatter": "reduce_scatter",
    "reduce_scatter_tensor": "reduce_scatter",
    "reduce_scatter_tensor_coalesced": "reduce_scatter",
    "broadcast": "broadcast",
    "_broadcast_oop": "broadcast",
    "reduce": "reduce",
    "_reduce_oop": "reduce",
    "gather": "gather",
    "scatter": "scatter",
    "all_to_all": "all_to_all",
    "all_to_allv": "all_to_all",
    "alltoall": "all_to_all",
    "alltoall_base": "all_to_all",
    "send": "send",
    "recv": "recv",
    "recvanysource": "recv",
    "wait": CONTROL,
    "barrier": CONTROL,
    "monitored_barrier": CONTROL,
    "init": CONTROL,
}

_OPERATORS = {
    "allreduce_": "all_reduce",
    "allreduce_coalesced_": "all_reduce",
    "allgather_": "all_gather",
    "_allgather_base_": "all_gather",
    "allgather_coalesced_": "all_gather",
    "allgather_into_tensor_coalesced_": "all_gather",
    "reduce_scatter_": "reduce_scatter",
    "_reduce_scatter_base_": "reduce_scatter",
    "reduce_scatter_tensor_coalesced_": "reduce_scatter",
    "broadcast_": "broadcast",
    "reduce_": "reduce",
    "gather_": "gather",
    "scatter_": "scatter",
    "alltoall_": "all_to_all",
    "alltoall_base_": "all_to_all",
    "send": "send",
    "recv_": "recv",
    "recv_any_source_": "recv",
    "barrier": CONTROL,
    "monitored_barrier_": CONTROL,
}

_KERNEL_WORD = {
    "AllReduce": "all_reduce",
    "ReduceScatter": "reduce_scatter",
    "AllGather": "all_gather",
    "Broadcast": "broadcast",
    "Reduce": "reduce",
}
_KERNEL = re.compile(r"^(?:nccl|rccl)(?:Dev)?Kernel_(?P<op>[A-Za-z]+?)_(?P<rest>.*)\Z")
_REDUCTIONS = {
    "Sum": "sum",
    "Prod": "prod",
    "Max": "max",
    "Min": "min",
    "Avg": "avg",
    "PreMulSum": "premulsum",
    "SumPostDiv": "avg",
}
_ANNOTATION = re.compile(r"^(?P<backend>[a-z][a-z0-9_]*):(?P<op>[A-Za-z_]+)\Z")


def recorded_operation(name: str) -> str:
    """Operation behind a record's ``Collective name``; a name that we do not know stands for itself."""
    return _RECORDED.get(name.lower(), name)


def operator_operation(name: str) -> str | None:
    """Operation behind a ``c10d::`` operator, None for operators that are not communication calls."""
    return _OPERATORS.get(name.removeprefix("c10d::"))


def annotated_operation(name: str) -> tuple[str, str] | None:
    """(backend, operation) behind an annotation such as ``gloo:all_reduce``, None for any other name."""
    match = _ANNOTATION.match(name)
    if match is None:
        return None
    operation = _RECORDED.get(match["op"].lower())
    return None if operation is None else (match["backend"], operation)


def kernel_operation(name: str) -> str | None:
    """Operation that an NCCL kernel's name states; None for send / receive and generic kernels.

    SendRecv kernels run all-to-all, gather, scatter and point-to-point calls, so their name decides nothing.
    """
    match = _KERNEL.match(name)
    return None if match is None else _KERNEL_WORD.get(match["op"])


def kernel_reduction(name: str) -> str | None:
    """Reduction operator in the name of a kernel that reduces; None for others (theirs is a filler)."""
    match = _KERNEL.match(name)
    if match is None or _KERNEL_WORD.get(match["op"]) not in REDUCING:
        return None
    for word in match["rest"].split("(")[0].split("_"):
        if word in _REDUCTIONS:
            return _REDUCTIONS[word]
    return None
