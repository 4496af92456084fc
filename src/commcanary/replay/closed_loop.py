"""closed-loop-v1: ranks wait for what they depend on, and hidden time is what the schedule hides.

``twin_closed_loop`` says the same in plain Python and is the definition that this must equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commcanary.replay.closed_loop_program import ClosedLoopProgram
from commcanary.replay.closed_loop_run import run_program
from commcanary.replay.critical_path import ScheduleColumns
from commcanary.replay.duration import REFERENCE_PRESSURE, concurrency, startup_us, transfer_us
from commcanary.replay.kernel_durations import draw_latencies
from commcanary.replay.samples import Samples, check_sample_count
from commcanary.replay.splitmix import run_key

if TYPE_CHECKING:
    from commcanary.artifacts.events import Events
    from commcanary.replay.configuration import Configuration


class ClosedLoop:
    """The model behind ``--model closed-loop-v1``."""

    name = "closed-loop-v1"
    version = "1"
    reads = frozenset(
        {"bandwidth_gbps", "latency_floor_us", "compute_pressure", "compute_slowdown", "transfer_slowdown"}
    )

    def prepare(self, events: Events, ablations: tuple[str, ...] = ()) -> ClosedLoopProgram:
        """The program of ``events``; raises as ``ClosedLoopProgram.of`` says."""
        return ClosedLoopProgram.of(events, ablations)

    def run(
        self, prepared: ClosedLoopProgram, configuration: Configuration, seeds: tuple[int, ...], iterations: int
    ) -> Samples:
        """Samples and schedules of ``len(seeds) * iterations`` runs; each starts at time 0 with nothing in flight.

        Sample values are whole ns.
        """
        check_sample_count(len(prepared.order), len(seeds) * iterations)
        pairs = [(s, prepared.groups[s.group].size) for s in prepared.signatures]
        startup = np.array([startup_us(configuration, size) for _, size in pairs], dtype=np.float64)
        tail_concurrency = np.array([0.04 * (concurrency(s) - 1) for s, _ in pairs], dtype=np.float64)
        effective = np.clip(configuration.compute_pressure * prepared.pressure / REFERENCE_PRESSURE, 0.0, 1.5)
        transfer = np.array([transfer_us(configuration, s, size) for s, size in pairs], dtype=np.float64)
        work_ns = transfer[prepared.signature] * (1 + 0.18 * effective) * 1000
        latency_ns = np.empty(len(prepared.order), np.int64)
        keys = [run_key(seed, iteration) for seed in seeds for iteration in range(iterations)]
        samples = np.empty((5, len(keys), len(prepared.order)), np.float64)
        schedule = ScheduleColumns(prepared)
        for run, key in enumerate(keys):
            draw_latencies(
                np.uint64(key),
                prepared.signature,
                prepared.skew_us,
                effective,
                prepared.noise_hash,
                startup,
                tail_concurrency,
                prepared.tails,
                latency_ns,
            )
            a, b = configuration.compute_slowdown, configuration.transfer_slowdown
            schedule.add(run_program(prepared, a, b, latency_ns, work_ns, samples[:, run]))
        exposed, total, queue_wait, skew, rank_wait = samples.reshape(5, -1)
        return Samples(exposed, total, queue_wait, skew, rank_wait, schedule=schedule.collected())


MODEL = ClosedLoop()
