"""scheduler-v4: the published open-loop model. Arrivals come from the trace and never wait for completions.

``twin_v4`` says the same in plain Python and is the definition that this must equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.events import Ragged
from commcanary.replay import requirements
from commcanary.replay.configuration import check_ablations
from commcanary.replay.duration import (
    REFERENCE_PRESSURE,
    concurrency,
    contention,
    startup_us,
    transfer_us,
)
from commcanary.replay.kernel_v4 import replay_run
from commcanary.replay.noise_hashes import noise_hashes
from commcanary.replay.occurrence import v4_occurrences
from commcanary.replay.ordering import replayed_order
from commcanary.replay.resources import resource_ids
from commcanary.replay.samples import Samples, check_sample_count
from commcanary.replay.splitmix import run_key
from commcanary.units import us_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.artifacts.events import Events, ProcessGroup, Signature
    from commcanary.replay.configuration import Configuration


@dataclass(frozen=True, slots=True)
class PreparedV4:
    """Columns of n events in replayed order; ``order[i]`` is the source index of replayed event i.

    Times are float64 us. ``noise_hash`` is empty where noise is ablated.
    """

    order: NDArray[np.int64]
    signatures: tuple[Signature, ...]
    groups: tuple[ProcessGroup, ...]
    signature: NDArray[np.int32]
    resource: NDArray[np.int32]
    resources: int
    clock_us: NDArray[np.float64]
    skew_us: NDArray[np.float64]
    mean_offset_us: NDArray[np.float64]
    overlap_us: NDArray[np.float64]
    pressure: NDArray[np.float64]
    noise_hash: NDArray[np.uint64]
    tails: bool


class SchedulerV4:
    """The model behind ``--model scheduler-v4``."""

    name = "scheduler-v4"
    version = "4"
    reads = frozenset({"bandwidth_gbps", "latency_floor_us", "compute_pressure", "overlap_efficiency"})

    def prepare(self, events: Events, ablations: tuple[str, ...] = ()) -> PreparedV4:
        """Clock, resources and noise hashes of ``events``, in the replayed order.

        Raises UnknownValueRefusal for unknown gaps, arrivals, overlap or pressure that no ablation removes;
        InputRefusal for an unknown ablation or offsets that do not fit their group.
        """
        check_ablations(ablations)
        requirements.require_sound_groups(events)
        gaps, offsets = _gaps(events, ablations), _offsets(events, ablations)
        order = replayed_order(events, ablations)
        resource = resource_ids(events)
        hashes = np.zeros(0, np.uint64)
        if "noise" not in ablations:
            hashes = noise_hashes(events, offsets, v4_occurrences(events))[order]
        return PreparedV4(
            order=order,
            signatures=events.signatures,
            groups=events.groups,
            signature=events.signature[order].astype(np.int32),
            resource=resource[order].astype(np.int32),
            resources=int(resource.max(initial=-1)) + 1,
            clock_us=us_array(np.cumsum(gaps[order])),
            skew_us=us_array(offsets.largest()[order]),
            mean_offset_us=_mean_us(offsets)[order],
            overlap_us=us_array(_overlaps(events, ablations)[order]),
            pressure=_pressures(events, ablations)[order],
            noise_hash=hashes,
            tails="rare_tail_windows" not in ablations,
        )

    def run(
        self, prepared: PreparedV4, configuration: Configuration, seeds: tuple[int, ...], iterations: int
    ) -> Samples:
        """Samples of ``len(seeds) * iterations`` runs; all state restarts in each."""
        check_sample_count(len(prepared.order), len(seeds) * iterations)
        groups = [prepared.groups[signature.group] for signature in prepared.signatures]
        pairs = list(zip(prepared.signatures, groups, strict=True))
        startup = np.array([startup_us(configuration, g.size) for _, g in pairs], dtype=np.float64)
        transfer = np.array([transfer_us(configuration, s, g.size) for s, g in pairs], dtype=np.float64)
        stretch = np.array([contention(s) for s, _ in pairs], dtype=np.float64)
        tail_concurrency = np.array([0.04 * (concurrency(s) - 1) for s, _ in pairs], dtype=np.float64)
        events, runs = len(prepared.order), len(seeds) * iterations
        exposed, total, queue_wait = (np.empty((runs, events), np.float64) for _ in range(3))
        keys = [run_key(seed, iteration) for seed in seeds for iteration in range(iterations)]
        for run, key in enumerate(keys):
            replay_run(
                np.uint64(key),
                prepared.signature,
                prepared.resource,
                prepared.clock_us,
                prepared.skew_us,
                prepared.overlap_us,
                prepared.pressure,
                prepared.noise_hash,
                startup,
                transfer * stretch,
                tail_concurrency,
                configuration.compute_pressure,
                configuration.overlap_efficiency,
                prepared.tails,
                np.zeros(prepared.resources, np.float64),
                exposed[run],
                total[run],
                queue_wait[run],
            )
        return Samples(
            exposed_us=exposed.ravel(),
            total_us=total.ravel(),
            queue_wait_us=queue_wait.ravel(),
            skew_us=np.tile(prepared.skew_us, runs),
            rank_wait_us=np.tile(prepared.skew_us - prepared.mean_offset_us, runs),
        )


def _gaps(events: Events, ablations: tuple[str, ...]) -> NDArray[np.int64]:
    if "queue_reset_gaps" in ablations:
        return np.zeros(len(events), np.int64)
    requirements.require_gaps(events)
    return events.gap_ns


def _offsets(events: Events, ablations: tuple[str, ...]) -> Ragged:
    if "arrival_skew" in ablations:
        bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(requirements.group_sizes(events))])
        return Ragged(np.zeros(bounds[-1], np.int64), bounds, np.ones(len(events), np.bool_))
    requirements.require_arrivals(events)
    return events.offsets_ns


def _overlaps(events: Events, ablations: tuple[str, ...]) -> NDArray[np.int64]:
    if "compute_overlap" in ablations:
        return np.zeros(len(events), np.int64)
    requirements.require_overlap(events)
    return events.compute_overlap_ns


def _pressures(events: Events, ablations: tuple[str, ...]) -> NDArray[np.float64]:
    if "pressure" in ablations:
        return np.full(len(events), REFERENCE_PRESSURE, np.float64)
    requirements.require_pressure(events)
    return events.compute_pressure


def _mean_us(offsets: Ragged) -> NDArray[np.float64]:
    """float64[n]: the mean of each non-empty list, from its exact integer sum."""
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(offsets.values)])
    return us_array(sums[offsets.bounds[1:]] - sums[offsets.bounds[:-1]]) / offsets.lengths


MODEL = SchedulerV4()
