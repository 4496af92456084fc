"""A data-parallel training job with bucketed gradients whose exposed tail is known: an oracle, like ``pipeline``.

Backward produces one bucket after another; the all_reduce of each starts when its gradients are there and the one
before it is done, and the optimizer waits for all of them. So of all that communication only the tail is exposed:
what is left of the last one when backward ends. All ranks do the same at the same time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from commcanary.artifacts.events import ProcessGroup, Signature
from commcanary.errors import UsageError
from commcanary.replay.configuration import Configuration
from commcanary.replay.duration import startup_us, transfer_us
from commcanary.replay.grid import whole_ns
from commcanary.sources.synthetic.columns import known_trace
from commcanary.sources.synthetic.synthesis import Kernel, Synthesis

LOSS_BYTES = 4
_ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
_COMPUTE_STREAM, _STREAM = 7, 20


@dataclass(frozen=True, slots=True)
class DdpShape:
    """``ranks`` replicas, ``buckets`` of gradients; times in ns, ``backward_ns`` per bucket.

    The first bucket is small, as PyTorch makes it, so that communication starts early.
    """

    ranks: int = 8
    buckets: int = 6
    forward_ns: int = 20_000_000
    backward_ns: int = 7_000_000
    optimizer_ns: int = 5_000_000
    first_bucket_bytes: int = 1024 * 1024
    bucket_bytes: int = 25 * 1024 * 1024

    @property
    def events(self) -> int:
        """Collectives of one step: the buckets and the loss."""
        return self.buckets + 1


def ddp(shape: DdpShape, steps: int, configuration: Configuration | None = None) -> Synthesis:
    """``steps`` steps of the job; its kernels are those under ``configuration``, without noise or interference.

    Raises ``UsageError`` for a shape without communication.
    """
    if shape.ranks < 2 or shape.buckets < 1:
        raise UsageError(f"--ranks {shape.ranks} --buckets {shape.buckets}: give 2 ranks or more, and 1 bucket or more")
    configuration = configuration or Configuration()
    kinds = _signatures(shape)
    signature = [0] + [1] * (shape.buckets - 1) + [2]
    before = [shape.forward_ns + shape.backward_ns] + [shape.backward_ns] * (shape.buckets - 1) + [shape.optimizer_ns]
    lasts = [_alone_ns(configuration, kinds[kind], shape.ranks) for kind in signature]
    ready, done, starts = 0, 0, []
    names = ["backward_kernel"] * shape.buckets + ["optimizer_kernel"]
    kernels: list[tuple[int, str, int, int, int | None]] = []
    for i, (compute, length) in enumerate(zip(before, lasts, strict=True)):
        begin = max(ready, done) if i == shape.buckets else ready
        ready = begin + compute
        if i == 0:
            kernels.append((_COMPUTE_STREAM, "forward_kernel", begin, begin + shape.forward_ns, None))
            begin += shape.forward_ns
        kernels.append((_COMPUTE_STREAM, names[i], begin, ready, None))
        starts.append(ready)
        issued, done = max(ready, done), max(ready, done) + length
        kernels.append((_STREAM, _ALL_REDUCE, issued, done, i))
    step_ns, count = done, shape.events
    step = np.repeat(np.arange(steps, dtype=np.int64), count)
    place = np.tile(np.arange(count, dtype=np.int64), steps)
    trace = known_trace(
        "ddp-bucketed",
        f"synthetic: {shape.ranks} ranks, {shape.buckets} buckets, made by rule, not measured",
        [ProcessGroup("dp", shape.ranks)],
        kinds,
        np.tile(np.array(signature, np.int64), steps),
        start_ns=np.tile(np.array(starts, np.int64), steps) + step * step_ns,
        rank_compute_before_ns=[[compute] * shape.ranks for compute in before] * steps,
        consumer=np.where(place < shape.buckets, step * count + shape.buckets, -1),
        message_sequence=np.full(len(step), -1, np.int64),
    )
    placed = tuple(
        Kernel(rank, stream, name, n * step_ns + begin, n * step_ns + end, None if at is None else at + n * count)
        for n in range(steps)
        for rank in range(shape.ranks)
        for stream, name, begin, end, at in kernels
    )
    return Synthesis(trace, placed, tuple((n + 1) * step_ns for n in range(steps)))


def _signatures(shape: DdpShape) -> tuple[Signature, Signature, Signature]:
    """A first bucket, another one, and the loss."""
    sizes = ((shape.first_bucket_bytes, "backward"), (shape.bucket_bytes, "backward"), (LOSS_BYTES, "optimizer"))
    first, other, loss = (
        Signature(op="all_reduce", bytes=size, group=0, phase=phase, dtype="float32") for size, phase in sizes
    )
    return first, other, loss


def _alone_ns(configuration: Configuration, signature: Signature, ranks: int) -> int:
    latency = whole_ns(startup_us(configuration, ranks) * 1000)
    return latency + whole_ns(transfer_us(configuration, signature, ranks) * 1000)
