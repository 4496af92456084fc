"""A 1F1B pipeline-parallel job whose bubble is known: an oracle for models and overlap analyses.

A slot is what a stage spends on one microbatch in one direction: waiting for the message that it needs, where that
is still on its way, then computing. Slots last exactly as long as given, so the wait is taken off the compute. Then
the job takes steps * (m + p - 1) * (forward + backward), and each stage has nothing to do for (p - 1) / (m + p - 1) of
it - under the configuration that it was made for, without noise; others make messages, and so slots, longer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.events import ProcessGroup, Signature
from commcanary.errors import UsageError
from commcanary.replay.configuration import Configuration
from commcanary.replay.duration import startup_us, transfer_us
from commcanary.replay.grid import whole_ns
from commcanary.sources.synthetic.columns import known_trace
from commcanary.sources.synthetic.hops import Hop, arrivals_ns
from commcanary.sources.synthetic.one_f_one_b import Task, one_f_one_b
from commcanary.sources.synthetic.synthesis import Kernel, Synthesis

if TYPE_CHECKING:
    from collections.abc import Sequence

FLUSH_BYTES = 8
_SEND_RECV = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"
_ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
_COMPUTE = {True: "stage_forward_kernel", False: "stage_backward_kernel"}
_COMPUTE_STREAM, _FLUSH_STREAM = 7, 40


@dataclass(frozen=True, slots=True)
class PipelineShape:
    """p ``stages``, one rank each, and m ``microbatches`` a step; the length of both kinds of slot in ns."""

    stages: int = 4
    microbatches: int = 8
    forward_ns: int = 10_000_000
    backward_ns: int = 20_000_000
    message_bytes: int = 4 * 1024 * 1024

    @property
    def step_ns(self) -> int:
        """Length of one step, bubble included."""
        return (self.microbatches + self.stages - 1) * (self.forward_ns + self.backward_ns)

    @property
    def events(self) -> int:
        """Collectives of one step: a message a boundary, microbatch and direction, and the all_reduce at the end."""
        return 2 * (self.stages - 1) * self.microbatches + 1


@dataclass(slots=True)
class _Event:
    """One row of a step: its ranks, when it starts, when it ends, and its row's ``before`` per rank."""

    ranks: tuple[int, ...]
    start: int
    end: int
    task: Task | None = None
    receiver: int = -1
    consumer: int = -1
    issue: dict[int, int] | None = None
    before: dict[int, int] | None = None


def pipeline(shape: PipelineShape, steps: int, configuration: Configuration | None = None) -> Synthesis:
    """``steps`` steps of the job, with its kernels.

    Raises ``UsageError`` for a shape without messages, and where a message takes longer than the slot that waits
    for it.
    """
    if shape.stages < 2 or shape.microbatches < 1:
        said = f"--stages {shape.stages} --microbatches {shape.microbatches}"
        raise UsageError(f"{said}: give 2 stages or more, and 1 microbatch or more")
    configuration = configuration or Configuration()
    flush_ns = _alone_ns(configuration, _flush(shape), shape.stages)
    tasks = one_f_one_b(shape.stages, shape.microbatches, shape.forward_ns, shape.backward_ns)
    last = tasks[0][-1]  # its slot ends with the step's all_reduce
    tasks[0][-1] = Task(last.stage, last.microbatch, last.forward, last.start, last.end - flush_ns)
    events = _events(shape, tasks, configuration)
    events.append(_Event(tuple(range(shape.stages)), last.end - flush_ns, last.end))
    closing = _closing(shape, tasks, events)
    kernels = [kernel for stage in range(shape.stages) for kernel in _run(stage, events, closing[stage])]
    return _synthesis(shape, steps, events, kernels)


def _events(shape: PipelineShape, tasks: Sequence[Sequence[Task]], configuration: Configuration) -> list[_Event]:
    """A step's messages in the order in which they start, with their arrivals."""
    sent = [
        _Event(tuple(sorted((t.stage, t.stage + step))), t.end, 0, t, t.stage + step)
        for stage in tasks
        for t in stage
        for step in [1 if t.forward else -1]
        if 0 <= t.stage + step < shape.stages
    ]
    sent.sort(key=lambda e: (e.start, e.ranks, e.receiver))
    message = _message(shape, 0, 0, 1)
    latency = whole_ns(startup_us(configuration, 2) * 1000)
    hops = [Hop((e.ranks[0], e.ranks[1]), e.start) for e in sent]
    for event, end in zip(sent, arrivals_ns(hops, latency, transfer_us(configuration, message, 2) * 1000), strict=True):
        event.end = end
    return sent


def _closing(
    shape: PipelineShape, tasks: Sequence[Sequence[Task]], events: Sequence[_Event]
) -> list[dict[int, list[Task]]]:
    """Per stage: event -> the tasks that the rank computes between its event before and this one.

    A task ends with the message that it sends, else with the rank's next event. Also says which event of the
    receiver first needs each message.
    """
    closing: list[dict[int, list[Task]]] = [{} for _ in range(shape.stages)]
    sent_by = {id(event.task): i for i, event in enumerate(events) if event.task is not None}
    closed: dict[tuple[int, bool, int], int] = {}
    for stage, own in enumerate(tasks):
        mine = [i for i, event in enumerate(events) if stage in event.ranks]
        for task in own:
            at = sent_by.get(id(task), -1)
            if at < 0:
                at = next(i for i in mine if events[i].start >= task.end)
            closing[stage].setdefault(at, []).append(task)
            closed[stage, task.forward, task.microbatch] = at
    for event in events:
        if event.task is not None:
            event.consumer = closed[event.receiver, event.task.forward, event.task.microbatch]
    return closing


def _run(stage: int, events: Sequence[_Event], closing: dict[int, list[Task]]) -> list[Kernel]:
    """Go through one rank's program: set ``before`` and ``issue`` of its events, and return its kernels."""
    free, previous = 0, -1
    kernels: list[Kernel] = []
    streams: dict[int, int] = {}
    for i, event in enumerate(events):
        if stage not in event.ranks:
            continue
        needed = [e.end for e in events if stage in e.ranks and previous < e.consumer <= i]
        ready = max([free, *needed])
        free = ready
        for task in closing.get(i, ()):
            if task.end <= free:
                raise UsageError("a message takes longer than the slot that waits for it: give smaller messages")
            kernels.append(Kernel(stage, _COMPUTE_STREAM, _COMPUTE[task.forward], free, task.end))
            free = task.end
        event.issue = {**(event.issue or {}), stage: free}
        event.before = {**(event.before or {}), stage: free - ready}
        stream = _FLUSH_STREAM if event.receiver < 0 else _stream(stage, event)
        begin = max(free, streams.get(stream, 0))
        kernels.append(
            Kernel(stage, stream, _ALL_REDUCE if event.receiver < 0 else _SEND_RECV, begin, event.end, event=i)
        )
        streams[stream] = event.end
        previous = i
    return kernels


def _stream(stage: int, event: _Event) -> int:
    """A stream of its own for each neighbour and direction, as for communicators of two ranks."""
    other = event.ranks[0] + event.ranks[1] - stage
    return 20 + 2 * (other > stage) + (event.receiver == stage)


def _synthesis(shape: PipelineShape, steps: int, events: Sequence[_Event], kernels: Sequence[Kernel]) -> Synthesis:
    boundaries = [ProcessGroup.of(f"pp{s}", (s, s + 1)) for s in range(shape.stages - 1)]
    groups = [*boundaries, ProcessGroup("pipeline", shape.stages)]
    rows = [_signature(shape, event) for event in events]
    signatures = list(dict.fromkeys(rows))
    count = len(events)
    starts = np.array([event.start for event in events], np.int64)
    consumer = np.array([event.consumer for event in events], np.int64)
    microbatch = np.array([-1 if event.task is None else event.task.microbatch for event in events], np.int64)
    step = np.repeat(np.arange(steps, dtype=np.int64), count)
    before = [[(event.before or {})[rank] for rank in event.ranks] for event in events]
    trace = known_trace(
        "pipeline-1f1b",
        f"synthetic: {shape.stages} stages, {shape.microbatches} microbatches, 1F1B, made by rule, not measured",
        groups,
        signatures,
        np.tile([signatures.index(row) for row in rows], steps),
        start_ns=np.tile(starts, steps) + step * shape.step_ns,
        rank_compute_before_ns=before * steps,
        consumer=np.where(np.tile(consumer, steps) >= 0, np.tile(consumer, steps) + step * count, -1),
        message_sequence=np.where(np.tile(microbatch, steps) >= 0, np.tile(microbatch, steps), -1),
    )
    moved = tuple(
        Kernel(
            k.rank,
            k.stream,
            k.name,
            k.start_ns + n * shape.step_ns,
            k.end_ns + n * shape.step_ns,
            None if k.event is None else k.event + n * count,
        )
        for n in range(steps)
        for k in kernels
    )
    return Synthesis(trace, moved, tuple((n + 1) * shape.step_ns for n in range(steps)))


def _signature(shape: PipelineShape, event: _Event) -> Signature:
    if event.task is None:
        return _flush(shape)
    return _message(shape, event.ranks[0], event.task.stage, event.receiver)


def _message(shape: PipelineShape, boundary: int, sender: int, receiver: int) -> Signature:
    return Signature(
        op="point_to_point",
        bytes=shape.message_bytes,
        group=boundary,
        phase="forward" if receiver > sender else "backward",
        sender_rank=sender,
        receiver_rank=receiver,
        dtype="bfloat16",
    )


def _flush(shape: PipelineShape) -> Signature:
    return Signature(op="all_reduce", bytes=FLUSH_BYTES, group=shape.stages - 1, phase="optimizer", dtype="float32")


def _alone_ns(configuration: Configuration, signature: Signature, ranks: int) -> int:
    latency = whole_ns(startup_us(configuration, ranks) * 1000)
    return latency + whole_ns(transfer_us(configuration, signature, ranks) * 1000)
