"""The schedule of a segment: compute on one lane, buckets one after another on one stream.

Compute advances at rate 1, at 1 / (1 + a) while a collective is in flight. A collective starts when its bucket
is ready and the stream free; its startup passes at rate 1, its transfer at 1 / (1 + b) while compute runs. Compute
stands still where it needs a bucket that is not complete. Everything between two such moments is linear, so the
schedule is exact but for floating point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from commcanary.errors import InputRefusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commcanary.timeline.alpha_beta import AlphaBeta
    from commcanary.timeline.segment import Bucket


@dataclass(frozen=True)
class Interference:
    """a: how much longer compute takes beside a collective; b: a transfer beside compute. 0 is none."""

    compute: float = 0.0
    transfer: float = 0.0


@dataclass(frozen=True)
class Placed:
    """One bucket in the schedule, us from the segment's start.

    ``ready`` is when its bytes were there, ``needed`` when compute reached the point that needs it.
    """

    bucket: Bucket
    ready: float
    start: float
    completion: float
    needed: float


@dataclass(frozen=True)
class Schedule:
    """``step`` = compute alone + ``tail`` (compute stood still) + ``slowdown`` (compute took longer), us.

    ``beside`` is the time with compute and a collective at once.
    """

    placed: tuple[Placed, ...]
    step: float
    tail: float
    slowdown: float
    beside: float

    @property
    def peak_buffer_bytes(self) -> int:
        """Most bytes of buckets between ready and complete at one moment; each holds one buffer of its size."""
        changes = [(p.ready, 1, p.bucket.size) for p in self.placed]
        changes += [(p.completion, 0, -p.bucket.size) for p in self.placed]
        held = peak = 0
        for _, _, change in sorted(changes):
            held += change
            peak = max(peak, held)
        return peak


class _Run:
    """The state of a schedule between two moments; ``work`` is the compute done so far."""

    def __init__(self, compute: float, buckets: Sequence[Bucket], law: AlphaBeta, interference: Interference) -> None:
        self.compute = compute
        self.buckets = buckets
        self.law = law
        self.interference = interference
        self.time = self.work = self.tail = self.beside = 0.0
        self.next = 0
        self.latency = self.transfer = 0.0
        self.flying = False
        self.ready: dict[int, float] = {}
        self.started: dict[int, float] = {}
        self.completed: dict[int, float] = {}
        self.needed: dict[int, float] = {}

    def needed_at(self, index: int) -> float:
        needed = self.buckets[index].needed_us
        return self.compute if needed is None else needed

    def mark(self) -> None:
        """Note what is ready and what is needed now, and start the next bucket where it can start."""
        for index, bucket in enumerate(self.buckets):
            if self.work >= bucket.ready_us:
                self.ready.setdefault(index, self.time)
            if self.work >= self.needed_at(index):
                self.needed.setdefault(index, self.time)
        if not self.flying and self.next in self.ready:
            self.flying = True
            self.started[self.next] = self.time
            self.latency = self.law.startup_us
            self.transfer = self.law.time_us(self.buckets[self.next].size) - self.law.startup_us

    def advance(self) -> None:
        """Go on to the next moment at which anything changes."""
        standing = any(index not in self.completed for index in self.needed)
        computing = self.work < self.compute and not standing
        rate = 1 / (1 + self.interference.compute) if self.flying else 1.0
        shift = 1 / (1 + self.interference.transfer) if computing else 1.0
        target = min([self.compute, *self._marks_ahead()])
        steps = [(target - self.work) / rate] if computing else []
        if self.flying:
            steps.append(self.latency if self.latency > 0 else self.transfer / shift)
        if not steps:
            blocked = next(index for index in self.needed if index not in self.completed)
            raise InputRefusal(
                self.buckets[blocked].name,
                f"is needed before {self.buckets[self.next].name}, which stands before it on the stream, can be ready",
                "choose another order",
            )
        step = min(steps)
        self.time += step
        if computing:
            self.work = target if step == steps[0] else self.work + step * rate
            self.beside += step if self.flying else 0.0
        else:
            self.tail += step
        if self.flying:
            self._fly(step, shift, done=step == steps[-1])

    def _fly(self, step: float, shift: float, done: bool) -> None:
        if self.latency > 0:
            self.latency = 0.0 if done else self.latency - step
        else:
            self.transfer = 0.0 if done else self.transfer - step * shift
        if self.latency <= 0 and self.transfer <= 0:
            self.completed[self.next] = self.time
            self.next += 1
            self.flying = False

    def _marks_ahead(self) -> list[float]:
        points = [b.ready_us for b in self.buckets] + [self.needed_at(i) for i in range(len(self.buckets))]
        return [point for point in points if point > self.work]


def scheduled(
    compute_us: float, buckets: Sequence[Bucket], law: AlphaBeta, interference: Interference = Interference()
) -> Schedule:
    """The schedule of ``buckets``, in the order of their stream, beside ``compute_us`` of compute.

    Raises ``InputRefusal`` where an order stands still: compute waits for a bucket behind one that only more
    compute would make ready.
    """
    run = _Run(compute_us, buckets, law, interference)
    run.mark()
    while run.work < compute_us or len(run.completed) < len(buckets):
        run.advance()
        run.mark()
    placed = tuple(
        Placed(bucket, run.ready[i], run.started[i], run.completed[i], run.needed[i])
        for i, bucket in enumerate(buckets)
    )
    return Schedule(placed, run.time, run.tail, run.time - run.tail - compute_us, run.beside)


def interference_of_slowdown(
    compute_us: float, buckets: Sequence[Bucket], law: AlphaBeta, transfer: float, slowdown_us: float
) -> Interference:
    """The interference under which compute takes ``slowdown_us`` longer in this schedule, found by bisection.

    It spreads a measured slowdown evenly over the time with a collective in flight. Raises ``InputRefusal``
    where there is not enough such time.
    """
    if slowdown_us == 0:
        return Interference(0.0, transfer)

    def slowed(a: float) -> float:
        return scheduled(compute_us, buckets, law, Interference(a, transfer)).slowdown

    low, high = 0.0, 1.0
    while slowed(high) < slowdown_us:
        low, high = high, high * 2
        if high > _LARGEST_SLOWDOWN:
            beside = scheduled(compute_us, buckets, law, Interference(0.0, transfer)).beside
            raise InputRefusal(
                "slowdown_us",
                f"is {slowdown_us} us, but only {beside:.3f} us of collectives run beside compute",
                "no more can be lost than that: correct the slowdown or the buckets' ready times",
            )
    while high - low > _RESOLUTION * high:
        middle = (low + high) / 2
        low, high = (middle, high) if slowed(middle) < slowdown_us else (low, middle)
    return Interference(high, transfer)


_LARGEST_SLOWDOWN = 1e4
_RESOLUTION = 1e-13
