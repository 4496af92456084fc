"""closed-loop-v1 in plain Python: the program of one run, collective by collective. ``twin_schedule`` runs it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from commcanary.replay.duration import (
    REFERENCE_PRESSURE,
    concurrency,
    effective_pressure,
    penalty,
    startup_us,
    transfer_us,
)
from commcanary.replay.grid import whole_ns
from commcanary.replay.noise import noise_us
from commcanary.replay.noise_kinds import kind_hash
from commcanary.replay.ordering import replayed_order
from commcanary.replay.resources import is_pairwise, resource_name
from commcanary.replay.splitmix import GOLDEN, MASK, run_key, splitmix64
from commcanary.replay.twin_schedule import Collective, Run, simulate
from commcanary.units import us_from_ns

if TYPE_CHECKING:
    from commcanary.artifacts.events import Events
    from commcanary.replay.configuration import Configuration


def replay(
    events: Events,
    configuration: Configuration,
    seeds: tuple[int, ...],
    iterations: int,
    ablations: tuple[str, ...] = (),
) -> list[Run]:
    """Runs seed by seed, iteration by iteration. All values that the ablations leave in must be known."""
    return [
        simulate(
            collectives(events, configuration, run_key(seed, iteration), ablations),
            configuration.compute_slowdown,
            configuration.transfer_slowdown,
        )
        for seed in seeds
        for iteration in range(iterations)
    ]


def collectives(events: Events, configuration: Configuration, key: int, ablations: tuple[str, ...]) -> list[Collective]:
    """The program of one run, in replayed order, with its durations drawn."""
    seen: Counter[int] = Counter()
    hashes = []
    for index in range(len(events)):
        kind = kind_hash(events, events.signatures[events.signature[index]])
        hashes.append(splitmix64(kind ^ (seen[kind] * GOLDEN & MASK)))
        seen[kind] += 1
    order = replayed_order(events, ablations)
    noise_hash = [hashes[index] for index in order]
    events = events.take(order)
    latest: dict[str, Collective] = {}
    program = []
    for index in range(len(events)):
        signature = events.signatures[events.signature[index]]
        group = events.group_of(signature)
        offsets = [0] * group.size if "arrival_skew" in ablations else events.offsets_ns.row(index)
        before = events.rank_compute_before_ns.row(index)
        if before is None:
            assert offsets is not None
            before = [int(events.compute_before_ns[index]) + offset for offset in offsets]
        event_pressure = REFERENCE_PRESSURE if "pressure" in ablations else float(events.compute_pressure[index])
        pressure = effective_pressure(configuration, event_pressure)
        latency = startup_us(configuration, group.size)
        if "noise" not in ablations:
            tails = "rare_tail_windows" not in ablations
            skew = us_from_ns(max(offsets or [0]))
            latency += noise_us(key ^ noise_hash[index], skew, pressure, concurrency(signature), tails=tails)
        stream = resource_name(events, signature)
        if is_pairwise(signature):
            stream = f"pair {stream} {events.message_sequence[index]}"
        one = Collective(
            index=index,
            before_ns=dict(zip(group.members, before, strict=True)),
            overlap_ns=0 if "compute_overlap" in ablations else int(events.compute_overlap_ns[index]),
            consumer=None if events.consumer[index] < 0 else int(events.consumer[index]),
            stream=stream,
            latency_ns=whole_ns(latency * 1000),
            work_ns=transfer_us(configuration, signature, group.size) * penalty(pressure) * 1000,
            previous=latest.get(stream),
        )
        latest[stream] = one
        program.append(one)
    return program
