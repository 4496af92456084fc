"""Three runs of one job -> what overlapping them costs and gains, and whether that is better."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from commcanary.errors import IntegrityRefusal
from commcanary.judge.study_document import (
    BETTER,
    COMMUNICATION,
    COMPUTE,
    FAILED,
    INCONCLUSIVE,
    OVERLAPPED,
    PASSED,
    UNKNOWN,
    WORSE,
    WRONG_RESULTS,
    Counters,
    KernelSlowdown,
    Memory,
    Outcome,
    OverlapStudy,
    RankStudy,
    Side,
    StepTimes,
)
from commcanary.judge.study_runs import Run, Way, check_same_job, way_of
from commcanary.timeline.kernels import UNKNOWN as NOT_KNOWN
from commcanary.timeline.three_runs import Distribution, distribution, equation, median_step, slowdown
from commcanary.units import r3, us_from_ns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commcanary.timeline.step_parts import StepParts

ASSUMPTIONS = (
    "a collective's time holds the wait for ranks that come later",
    "before is compute alone followed by communication alone, measured in two runs, not one run of both",
    "the equation is of the step of median length of each run",
)
LEVEL = 0.95
RESAMPLES = 2000
SEED = 7
FEWEST_STEPS = 8
"""With fewer steps of any way no schedule is called better or worse."""

FASTEST_BESIDE = 0.95
"""Compute beside communication below this share of its time alone is a sign of unequal conditions."""


class Correctness(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A comparison of the overlapped job's results with the other schedule's, made by the job itself."""

    compared: str
    largest_difference: float
    tolerance: float
    equivalent: bool


def study(
    runs: Mapping[str, Sequence[Run]], correctness: Correctness | None, ignored: frozenset[str] = frozenset()
) -> OverlapStudy:
    """The study of ``runs`` (by way: compute, communication, overlapped).

    Raises ``IntegrityRefusal`` or ``InputRefusal`` where the runs are not three ways of one job.
    """
    ways = {name: way_of(name, found, ignored) for name, found in runs.items()}
    messages, shapes = check_same_job(ways)
    times = _step_times(ways)
    right = _correctness(correctness)
    ranks = tuple(
        _rank(rank, ways[COMPUTE].pooled(rank), ways[COMMUNICATION].pooled(rank), ways[OVERLAPPED].pooled(rank))
        for rank in ways[OVERLAPPED].runs
    )
    return OverlapStudy(
        verdict=_verdict(times, right, ranks),
        sides=tuple(
            Side(w.name, tuple(w.runs), len(next(iter(w.runs.values()))), len(next(iter(w.steps.values()))[0]))
            for w in ways.values()
        ),
        ranks=ranks,
        step_times=times,
        correctness=right,
        message_sizes=messages,
        shapes=shapes,
        memory=tuple(_memory(way) for way in ways.values()),
        counters=tuple(_counters(way) for way in ways.values()),
        ignored=tuple(sorted(ignored)),
        assumptions=ASSUMPTIONS,
    )


def _rank(rank: int, a: list[StepParts], b: list[StepParts], c: list[StepParts]) -> RankStudy:
    return RankStudy(
        rank,
        slowdown([step.compute for step in a], [step.compute for step in c]),
        slowdown([step.communication for step in b], [step.communication for step in c]),
        _us([step.communication_only for step in c]),
        _us([step.both for step in c]),
        _us([step.tail for step in c]),
        equation(median_step(a), median_step(b), median_step(c)),
        _by_name([s.kernels for s in a], [s.kernels for s in c]),
        _by_name([s.collectives for s in b], [s.collectives for s in c]),
    )


def _us(lengths: Sequence[int]) -> Distribution:
    return distribution([us_from_ns(length) for length in lengths])


def _by_name(
    alone: Sequence[Sequence[tuple[str, int] | tuple[str, int, int]]],
    overlapped: Sequence[Sequence[tuple[str, int] | tuple[str, int, int]]],
) -> tuple[KernelSlowdown, ...]:
    """The slowdown of each kernel, or each collective and size, largest addition first."""
    lengths: dict[tuple[str, int], tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for number, steps in enumerate((alone, overlapped)):
        for step in steps:
            for name, *size, length in step:
                lengths[name, size[0] if size else NOT_KNOWN][number].append(length)
    found = [
        KernelSlowdown(
            name,
            None if size == NOT_KNOWN else size,
            slowdown(before, after),
            r3((sum(after) / len(overlapped) - sum(before) / len(alone)) / 1000),
        )
        for (name, size), (before, after) in lengths.items()
        if before and after
    ]
    return tuple(sorted(found, key=lambda kernel: (-kernel.added_us, kernel.name, kernel.bytes or 0)))


def _step_times(ways: Mapping[str, Way]) -> StepTimes | None:
    """None where the profiles have no profiler steps."""
    times = {name: _slowest(way) for name, way in ways.items()}
    if any(found is None for found in times.values()):
        return None
    a, b, c = (np.asarray(times[name], np.int64) for name in (COMPUTE, COMMUNICATION, OVERLAPPED))
    draw = np.random.default_rng(SEED)
    medians = [
        np.median(side[draw.integers(0, len(side), (RESAMPLES, len(side)))], axis=1) / 1000 for side in (a, b, c)
    ]
    low, high = np.quantile(medians[0] + medians[1] - medians[2], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    gain = float(np.median(a) + np.median(b) - np.median(c)) / 1000
    return StepTimes(_us(a.tolist()), _us(b.tolist()), _us(c.tolist()), r3(gain), (r3(low), r3(high)), LEVEL)


def _slowest(way: Way) -> list[int] | None:
    """ns of each step of each repeat: that of the slowest rank."""
    slowest = []
    for repeat in range(len(next(iter(way.steps.values())))):
        for steps in zip(*(way.steps[rank][repeat] for rank in way.steps), strict=True):
            lengths = [step.host for step in steps]
            if any(length is None for length in lengths):
                return None
            slowest.append(max(length for length in lengths if length is not None))
    return slowest


def _correctness(given: Correctness | None) -> Outcome:
    if given is None:
        return Outcome(UNKNOWN, "no --correctness file: nothing shows that the overlapped job computes the same")
    said = f"{given.compared}: largest difference {given.largest_difference:g}, tolerance {given.tolerance:g}"
    return Outcome(PASSED if given.equivalent else FAILED, said)


def check_correctness(given: Correctness) -> None:
    """Raise ``IntegrityRefusal`` where the stated outcome is not that of the stated numbers."""
    within = abs(given.largest_difference) <= given.tolerance
    if within != given.equivalent:
        raise IntegrityRefusal(
            "equivalent",
            f"is {given.equivalent}, but the largest difference is {given.largest_difference:g} with tolerance "
            f"{given.tolerance:g}",
            "write what was measured",
        )


def _verdict(times: StepTimes | None, correctness: Outcome, ranks: Sequence[RankStudy]) -> Outcome:
    if correctness.outcome == FAILED:
        return Outcome(WRONG_RESULTS, f"it computes something else: {correctness.reason}")
    for rank in ranks:
        ratio = rank.compute.ratio
        if ratio is not None and ratio.median < FASTEST_BESIDE:
            return Outcome(
                INCONCLUSIVE,
                f"rank {rank.rank} computes faster beside communication than alone ({ratio.median:.2f}x): the runs "
                "were not made under equal conditions",
            )
    if times is None:
        return Outcome(UNKNOWN, "the profiles have no profiler steps: call profiler.step() behind every step")
    fewest = min(side.count for side in (times.compute, times.communication, times.overlapped))
    if fewest < FEWEST_STEPS:
        return Outcome(UNKNOWN, f"{fewest} steps are too few for a verdict on step times: {FEWEST_STEPS} or more")
    low, high = times.interval_us
    said = f"a step gains {times.gain_us:.3f} us ({100 * LEVEL:g} %: {low:.3f} to {high:.3f})"
    if high < 0:
        return Outcome(WORSE, said)
    if low <= 0:
        return Outcome(INCONCLUSIVE, said)
    if correctness.outcome == UNKNOWN:
        return Outcome(UNKNOWN, f"{said}, but {correctness.reason}")
    return Outcome(BETTER, said)


def _memory(way: Way) -> Memory:
    allocated, reserved = (_largest(way, field) for field in ("peak_allocated", "peak_reserved"))
    missing = not allocated and not reserved
    reason = "no memory event in the profiles (profile_memory=True)" if missing else None
    return Memory(way.name, allocated or None, reserved or None, reason)


def _largest(way: Way, field: str) -> dict[str, int]:
    peaks: dict[str, int] = {}
    for run in way.all_runs:
        for device, peak in getattr(run, field).items():
            peaks[device] = max(peaks.get(device, 0), peak)
    return dict(sorted(peaks.items()))


def _counters(way: Way) -> Counters:
    values: dict[str, list[float]] = defaultdict(list)
    for run in way.all_runs:
        for name, found in run.counters.items():
            values[name] += found
    if not values:
        return Counters(way.name, None, "the profiles have no counters of clocks or memory bandwidth")
    return Counters(way.name, {name: distribution(found) for name, found in sorted(values.items())}, None)
