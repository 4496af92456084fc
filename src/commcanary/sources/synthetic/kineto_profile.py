"""The kernels of a synthetic job as the profiler would write them: one Kineto document a rank."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from commcanary.units import us_from_ns

if TYPE_CHECKING:
    from commcanary.artifacts.events import ProcessGroup, Signature
    from commcanary.sources.synthetic.synthesis import Kernel, Synthesis

Document = dict[str, Any]

BASE_NS = 1_700_000_000_000_000_000
"""Where all ranks' clocks begin: one clock, so that arrivals can be compared."""

FIRST_NS = 100_000
"""When the first kernel starts on that clock: the host is ahead of the device."""

CALL_NS = 200
"""A communication call on the host, at most so long before its kernel starts, or before the next call."""

_DTYPES = {"float32": ("Float", 4), "bfloat16": ("BFloat16", 2)}
_NAMES = {"all_reduce": "allreduce"}
_HOST_THREAD = 1
_FIRST_CORRELATION = 1_000_000


def kineto_profiles(synthesis: Synthesis) -> dict[int, Document]:
    """Rank -> its profile. Every communication kernel has the record and the launch behind it."""
    ranks = sorted({kernel.rank for kernel in synthesis.kernels})
    return {rank: _profile(synthesis, rank, len(ranks)) for rank in ranks}


def _profile(synthesis: Synthesis, rank: int, world: int) -> Document:
    groups = [group for group in synthesis.trace.events.groups if rank in group.members]
    steps = [0, *(end + FIRST_NS for end in synthesis.steps_ns)]
    written = [
        _span(f"ProfilerStep#{n}", "user_annotation", begin, end, rank, _HOST_THREAD)
        for n, (begin, end) in enumerate(pairwise(steps))
    ]
    own = sorted((k for k in synthesis.kernels if k.rank == rank), key=lambda k: (k.start_ns, k.event or -1))
    returns = FIRST_NS + own[-1].end_ns
    spans: list[Document] = []
    for number, kernel in reversed(list(enumerate(own, start=1))):
        begin = kernel.start_ns + FIRST_NS
        spans.append(_kernel(synthesis, kernel, number))
        if kernel.event is not None:
            returns = min(returns - CALL_NS, begin)
            spans += _call(spans[-1], number, returns)
    return {
        "schemaVersion": 1,
        "distributedInfo": {
            "backend": "nccl",
            "rank": rank,
            "world_size": world,
            "pg_count": len(groups),
            "pg_config": [_group(group) for group in groups],
        },
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": BASE_NS,
        "traceEvents": written + spans[::-1],
        "traceName": f"rank{rank}.pt.trace.json",
    }


def _kernel(synthesis: Synthesis, kernel: Kernel, number: int) -> Document:
    begin, end = kernel.start_ns + FIRST_NS, kernel.end_ns + FIRST_NS
    args: Document = {
        "device": kernel.rank,
        "stream": kernel.stream,
        "correlation": _FIRST_CORRELATION + number,
        "External id": number,
    }
    if kernel.event is not None:
        events = synthesis.trace.events
        signature = events.signatures[events.signature[kernel.event]]
        args |= _payload(signature, events.group_of(signature), kernel.rank)
    return {**_span(kernel.name, "kernel", begin, end, kernel.rank, kernel.stream), "args": args}


def _call(kernel: Document, number: int, returns: int) -> list[Document]:
    """The launch of a communication kernel and the record around it, which returns at ``returns`` (ns)."""
    said = {key: value for key, value in kernel["args"].items() if key not in ("device", "stream", "correlation")}
    rank, half = kernel["pid"], CALL_NS // 2
    launch = _span("cudaLaunchKernelExC", "cuda_runtime", returns - half, returns, rank, _HOST_THREAD)
    record = _span("record_param_comms", "cpu_op", returns - CALL_NS, returns, rank, _HOST_THREAD)
    numbers = {"External id": number, "correlation": kernel["args"]["correlation"]}
    return [{**launch, "args": numbers}, {**record, "args": said}]


def _payload(signature: Signature, group: ProcessGroup, rank: int) -> Document:
    dtype, size = _DTYPES[signature.dtype or "float32"]
    said: Document = {
        "Collective name": _NAMES.get(signature.op, signature.op),
        "In msg nelems": signature.bytes // size,
        "Out msg nelems": signature.bytes // size,
        "dtype": dtype,
        "Group size": group.size,
        "Process Group Name": group.name,
        "Process Group Description": group.name,
        "Process Group Ranks": f"[{', '.join(map(str, group.members))}]",
    }
    if signature.sender_rank is None:
        return said
    if rank == signature.sender_rank:
        return {**said, "Collective name": "send", "Dst Rank": signature.receiver_rank}
    return {**said, "Collective name": "recv", "Src Rank": signature.sender_rank}


def _group(group: ProcessGroup) -> Document:
    return {
        "pg_name": group.name,
        "pg_desc": group.name,
        "backend_config": "cuda:nccl",
        "pg_size": group.size,
        "ranks": list(group.members),
    }


def _span(name: str, category: str, begin: int, end: int, process: int, thread: int) -> Document:
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "pid": process,
        "tid": thread,
        "ts": us_from_ns(begin),
        "dur": us_from_ns(end - begin),
    }
