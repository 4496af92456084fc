"""The bucketed data-parallel job: its exposed tail follows from the durations."""

from __future__ import annotations

import numpy as np
import pytest

from commcanary.artifacts.trace_checks import check_trace
from commcanary.errors import UsageError
from commcanary.replay.configuration import Configuration
from commcanary.replay.model import model_named
from commcanary.replay.samples import Samples
from commcanary.sources.synthetic.ddp import DdpShape, ddp
from commcanary.sources.synthetic.registry import synthesis
from commcanary.sources.synthetic.synthesis import Synthesis

MODEL = model_named("closed-loop-v1")


def replayed(made: Synthesis) -> Samples:
    samples: Samples = MODEL.run(MODEL.prepare(made.trace.events, ("noise",)), Configuration(), (7,), 1)
    return samples


def all_reduce_ns(size: int, ranks: int) -> int:
    """Baseline by hand: 11.5 us and 1.15 us a doubling, then 2 (n - 1) / n of the bytes at 55 Gbit/s."""
    latency = 11_500 + 1_150 * np.log2(ranks)
    return round(latency) + round(size * 8 / 55 * 2 * (ranks - 1) / ranks)


def tail_ns(shape: DdpShape) -> int:
    """What is left of the communication when backward ends: each bucket may be what the last one waits for."""
    sizes = [shape.first_bucket_bytes] + [shape.bucket_bytes] * (shape.buckets - 1)
    lasts = [all_reduce_ns(size, shape.ranks) for size in sizes]
    ready = [shape.forward_ns + shape.backward_ns * (i + 1) for i in range(shape.buckets)]
    return max(at + sum(lasts[i:]) for i, at in enumerate(ready)) - ready[-1]


SHAPES = {
    "compute bound": DdpShape(),
    "communication bound": DdpShape(ranks=4, buckets=5, backward_ns=2_000_000),
    "one bucket": DdpShape(ranks=2, buckets=1),
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_closed_loop_exposes_the_tail_and_no_more(shape: DdpShape) -> None:
    samples = replayed(ddp(shape, 3))
    tail = tail_ns(shape)
    assert samples.schedule is not None
    exposed = samples.exposed_us.reshape(3, shape.events)
    assert (exposed[:, shape.buckets - 1] * 1000).round().tolist() == [tail] * 3
    compute = shape.forward_ns + shape.buckets * shape.backward_ns + shape.optimizer_ns
    step = compute + tail + all_reduce_ns(4, shape.ranks)
    assert samples.schedule.makespan_ns[0] == 3 * step
    assert (samples.schedule.busy_ns == 3 * compute).all()
    assert (samples.schedule.idle_ns == 0).all()


def test_in_a_compute_bound_job_only_the_last_bucket_is_exposed() -> None:
    shape = SHAPES["compute bound"]
    assert tail_ns(shape) == all_reduce_ns(shape.bucket_bytes, 8)
    exposed = replayed(ddp(shape, 1)).exposed_us
    assert (exposed[: shape.buckets - 1] == 0).all()


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_kernels_are_those_of_the_schedule(shape: DdpShape) -> None:
    made = ddp(shape, 2)
    exposed = 0
    mine = [k for k in made.kernels if k.rank == 0]
    for kernel in mine:
        if kernel.event is not None:
            beside = sum(
                max(0, min(kernel.end_ns, other.end_ns) - max(kernel.start_ns, other.start_ns))
                for other in mine
                if other.event is None
            )
            exposed += kernel.end_ns - kernel.start_ns - beside
    samples = replayed(made)
    assert samples.schedule is not None
    assert exposed == samples.schedule.exposed_ns[0][0]


def test_events_are_as_many_as_asked_for() -> None:
    made = synthesis("ddp", 7, 50, {"ranks": 2, "buckets": 4})
    assert len(made.trace) == 50
    check_trace(made.trace.events, made.trace.start_ns)


def test_a_size_of_another_job_is_refused() -> None:
    with pytest.raises(UsageError, match="pipeline has"):
        synthesis("ddp", 7, None, {"stages": 4})
