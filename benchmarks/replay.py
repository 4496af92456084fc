"""Events per second of the replay kernels on this machine, one core.

    python benchmarks/replay.py [EVENTS]

A synthetic program of EVENTS (default 1,000,000) all_reduce and all_gather events on 8 ranks, in two process
groups, with random arrivals, compute and overlap. Each figure is the CPU time of the best of several calls, in
this process, after one call that compiles; nothing is read from or written to disk but Numba's cache.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace

import msgspec
import numpy as np

from commcanary.artifacts.events import UNKNOWN, Events, ProcessGroup, Ragged, Signature
from commcanary.replay.configuration import NAMED
from commcanary.replay.metrics import summarise
from commcanary.replay.model import model_named

RANKS = 8


def program(count: int, groups: int = 2) -> Events:
    """A seeded program: the same on every machine."""
    random = np.random.default_rng(7)
    arrivals = random.integers(0, 6_000, (count, RANKS))
    offsets = arrivals - arrivals.min(axis=1, keepdims=True)
    kinds = [("all_reduce", 262_144), ("all_gather", 1_048_576), ("all_reduce", 8_192), ("broadcast", 65_536)]
    return Events(
        groups=tuple(ProcessGroup(f"tp{i}", RANKS) for i in range(groups)),
        signatures=tuple(Signature(op, size, i % groups, "decode") for i, (op, size) in enumerate(kinds)),
        signature=random.integers(0, len(kinds), count).astype(np.int32),
        gap_ns=random.integers(50_000, 150_000, count),
        offsets_ns=Ragged(offsets.ravel(), np.arange(count + 1, dtype=np.int64) * RANKS, np.ones(count, np.bool_)),
        compute_before_ns=random.integers(0, 90_000, count),
        rank_compute_before_ns=Ragged.unknown(count),
        compute_overlap_ns=random.integers(0, 60_000, count),
        compute_pressure=random.uniform(0, 1, count),
        observed_exposed_ns=np.full(count, UNKNOWN, np.int64),
        message_sequence=np.full(count, UNKNOWN, np.int64),
        consumer=np.full(count, UNKNOWN, np.int64),
        compute_uncertain=np.zeros(count, np.bool_),
    )


def consumed_later(events: Events) -> Events:
    """The same program with three of four events consumed four events later, as in bucketed gradient reduction."""
    index = np.arange(len(events), dtype=np.int64)
    later = (index % 4 != 3) & (index + 4 < len(events))
    return replace(events, consumer=np.where(later, index + 4, UNKNOWN))


def best_of(repeats: int, call: Callable[[], object]) -> float:
    """CPU seconds of the fastest of ``repeats`` calls, after one that is not counted."""
    call()
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        call()
        times.append(time.process_time() - begin)
    return min(times)


def report(step: str, count: int, seconds: float) -> None:
    print(f"{step:<44}{seconds * 1e3:10.1f} ms{count / seconds / 1e6:10.2f} million events/s")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    events = program(count)
    print(f"{count:,} events, {RANKS} ranks, one core, CPU time, best of several calls after a warm-up")
    model = model_named("scheduler-v4")
    report("scheduler-v4 prepare (identities, hashes)", count, best_of(2, lambda: model.prepare(events)))
    prepared = model.prepare(events)
    baseline = NAMED["baseline"]
    report("scheduler-v4 run", count, best_of(5, lambda: model.run(prepared, baseline, (7,), 1)))
    samples = model.run(prepared, baseline, (7,), 1)
    report("metrics", count, best_of(2, lambda: summarise(samples, events)))

    loop = model_named("closed-loop-v1")
    at_once, later = loop.prepare(events), loop.prepare(consumed_later(events))
    report("closed-loop-v1 prepare, consumed at once", count, best_of(2, lambda: loop.prepare(events)))
    report("closed-loop-v1 run, consumed at once", count, best_of(5, lambda: loop.run(at_once, baseline, (7,), 1)))
    report("closed-loop-v1 run, several in flight", count, best_of(3, lambda: loop.run(later, baseline, (7,), 1)))
    beside = msgspec.structs.replace(baseline, name="beside", compute_slowdown=0.16, transfer_slowdown=0.8125)
    report("closed-loop-v1 run, in flight, interference", count, best_of(3, lambda: loop.run(later, beside, (7,), 1)))


if __name__ == "__main__":
    main()
