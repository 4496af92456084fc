"""The kernels of a synthetic job as the profiler would write them: one Kineto document a rank."""

from __future__ import annotations

from bisect import bisect_right
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
"""When the first kernel starts on that clock."""

LEAD_NS = 50_000
"""The host is so far ahead: it begins a step this long before the device does, and launches all of it in this time."""

CALL_NS = 200
"""A call on the host takes so long, where the launches of a step leave it so much room."""

_DTYPES = {"float32": ("Float", 4), "bfloat16": ("BFloat16", 2)}
_NAMES = {"all_reduce": "allreduce"}
_HOST_THREAD = 1
_FIRST_CORRELATION = 1_000_000


def kineto_profiles(synthesis: Synthesis) -> dict[int, Document]:
    """Rank -> its profile. Every kernel has its launch behind it, a communication kernel its record as well."""
    ranks = sorted({kernel.rank for kernel in synthesis.kernels})
    return {rank: _profile(synthesis, rank, len(ranks)) for rank in ranks}


def _profile(synthesis: Synthesis, rank: int, world: int) -> Document:
    groups = [group for group in synthesis.trace.events.groups if rank in group.members]
    begins = [FIRST_NS - LEAD_NS, *(end + FIRST_NS - LEAD_NS for end in synthesis.steps_ns)]
    written = [
        _span(f"ProfilerStep#{n}", "user_annotation", begin, end, rank, _HOST_THREAD)
        for n, (begin, end) in enumerate(pairwise(begins))
    ]
    own = sorted((k for k in synthesis.kernels if k.rank == rank), key=lambda k: (k.start_ns, k.event or -1))
    step_of = [bisect_right(synthesis.steps_ns, kernel.start_ns) for kernel in own]
    spans: list[Document] = []
    for number, (kernel, step) in enumerate(zip(own, step_of, strict=True), start=1):
        first, count = step_of.index(step), step_of.count(step)
        room = LEAD_NS // (count + 1)
        begin = begins[step] + (number - first) * room
        spans.append(_kernel(synthesis, kernel, number))
        length = min(CALL_NS, room)
        made = _launch if kernel.event is None else _call
        spans += made(spans[-1], number, begin, begin + length)
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
        "traceEvents": written + spans,
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


def _launch(kernel: Document, number: int, begin: int, end: int) -> list[Document]:
    """The launch of a compute kernel in [begin, end), ns."""
    launch = _span("cudaLaunchKernel", "cuda_runtime", begin, end, kernel["pid"], _HOST_THREAD)
    return [{**launch, "args": {"External id": number, "correlation": kernel["args"]["correlation"]}}]


def _call(kernel: Document, number: int, begin: int, end: int) -> list[Document]:
    """The launch of a communication kernel and the record around it in [begin, end), ns."""
    said = {key: value for key, value in kernel["args"].items() if key not in ("device", "stream", "correlation")}
    rank, half = kernel["pid"], (begin + end) // 2
    launch = _span("cudaLaunchKernelExC", "cuda_runtime", half, end, rank, _HOST_THREAD)
    record = _span("record_param_comms", "cpu_op", begin, end, rank, _HOST_THREAD)
    numbers = {"External id": number, "correlation": kernel["args"]["correlation"]}
    return [{**record, "args": said}, {**launch, "args": numbers}]


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
