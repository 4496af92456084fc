"""scheduler-v4 in plain Python, event by event: the definition, and the oracle of the kernel."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commcanary.replay.duration import (
    REFERENCE_PRESSURE,
    concurrency,
    contention,
    effective_pressure,
    penalty,
    startup_us,
    transfer_us,
)
from commcanary.replay.noise import canonical_json, hash_prefix, identity, noise_us
from commcanary.replay.occurrence import v4_key
from commcanary.replay.ordering import replayed_order
from commcanary.replay.resources import is_pairwise, resource_name
from commcanary.replay.splitmix import run_key
from commcanary.units import us_from_ns

if TYPE_CHECKING:
    from commcanary.artifacts.events import Events, Signature
    from commcanary.replay.configuration import Configuration


@dataclass(frozen=True, slots=True)
class Sample:
    """One event in one run, in us; the names are those of ``samples.Samples``."""

    event: int
    exposed_us: float
    total_us: float
    queue_wait_us: float
    skew_us: float
    rank_wait_us: float


@dataclass(frozen=True, slots=True)
class _Event:
    index: int
    signature: Signature
    ranks: int
    resource: str
    gap_ns: int
    offsets_ns: list[int]
    overlap_us: float
    pressure: float
    noise_hash: int


def replay(
    events: Events,
    configuration: Configuration,
    seeds: tuple[int, ...],
    iterations: int,
    ablations: tuple[str, ...] = (),
) -> list[Sample]:
    """Samples seed by seed, iteration by iteration, event by event in the replayed order.

    All values that the ablations leave in must be known.
    """
    program = _program(events, ablations)
    return [
        sample
        for seed in seeds
        for iteration in range(iterations)
        for sample in _run(program, configuration, run_key(seed, iteration), ablations)
    ]


def _program(events: Events, ablations: tuple[str, ...]) -> list[_Event]:
    seen: Counter[object] = Counter()
    program = []
    for index in range(len(events)):
        signature = events.signatures[events.signature[index]]
        group = events.group_of(signature)
        sequence = int(events.message_sequence[index])
        key = (v4_key(events, signature), sequence)
        offsets = [0] * group.size if "arrival_skew" in ablations else events.offsets_ns.row(index)
        assert offsets is not None
        who = identity(signature, group, offsets, seen[key], sequence if sequence >= 0 else None)
        seen[key] += 1
        resource = resource_name(events, signature)
        if is_pairwise(signature):
            resource += f":seq={sequence if sequence >= 0 else 'unknown'}"
        overlap_ns = 0 if "compute_overlap" in ablations else int(events.compute_overlap_ns[index])
        program.append(
            _Event(
                index=index,
                signature=signature,
                ranks=group.size,
                resource=resource,
                gap_ns=0 if "queue_reset_gaps" in ablations else int(events.gap_ns[index]),
                offsets_ns=offsets,
                overlap_us=us_from_ns(overlap_ns),
                pressure=REFERENCE_PRESSURE if "pressure" in ablations else float(events.compute_pressure[index]),
                noise_hash=hash_prefix(canonical_json(who)),
            )
        )
    return [program[index] for index in replayed_order(events, ablations)]


def _run(program: list[_Event], configuration: Configuration, key: int, ablations: tuple[str, ...]) -> list[Sample]:
    available: dict[str, float] = {}
    clock_ns = 0
    samples = []
    for event in program:
        clock_ns += event.gap_ns
        clock = us_from_ns(clock_ns)
        skew = us_from_ns(max(event.offsets_ns))
        last = clock + skew
        start = max(last, available.get(event.resource, 0.0))
        done = start + _duration(event, skew, configuration, key, ablations)
        available[event.resource] = done
        total = done - clock
        hidden = min(total, max(0.0, event.overlap_us) * configuration.overlap_efficiency)
        mean_offset = us_from_ns(sum(event.offsets_ns)) / event.ranks
        samples.append(Sample(event.index, total - hidden, total, start - last, skew, skew - mean_offset))
    return samples


def _duration(event: _Event, skew: float, configuration: Configuration, key: int, ablations: tuple[str, ...]) -> float:
    pressure = effective_pressure(configuration, event.pressure)
    transfer = transfer_us(configuration, event.signature, event.ranks) * contention(event.signature)
    duration = startup_us(configuration, event.ranks) + transfer * penalty(pressure)
    if "noise" not in ablations:
        groups = concurrency(event.signature)
        tails = "rare_tail_windows" not in ablations
        duration += noise_us(key ^ event.noise_hash, skew, pressure, groups, tails=tails)
    return max(0.5, duration)
