"""The runs of a study, and whether they are three ways of one job."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from commcanary.errors import InputRefusal, IntegrityRefusal
from commcanary.judge.study_document import COMMUNICATION, COMPUTE, OVERLAPPED, PASSED, UNKNOWN, Outcome
from commcanary.timeline.step_parts import StepParts, counted_calls, steps_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commcanary.timeline.rank_timeline import RankTimeline


T = TypeVar("T")


@dataclass(frozen=True)
class Run:
    """One profile of one way: its timeline, and what it says of shapes, memory and counters.

    ``shapes`` counts compute by (name, shape); ``peak_allocated`` and ``peak_reserved`` are bytes by device.
    """

    file: str
    timeline: RankTimeline
    shapes: Counter[tuple[str, str]]
    peak_allocated: Mapping[str, int]
    peak_reserved: Mapping[str, int]
    counters: Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Way:
    """All runs of one way by rank, repeats in the order given; ``steps`` likewise, ``[rank][repeat][step]``."""

    name: str
    runs: dict[int, list[Run]]
    steps: dict[int, list[tuple[StepParts, ...]]]

    @property
    def all_runs(self) -> list[Run]:
        """Every run."""
        return [run for runs in self.runs.values() for run in runs]

    def pooled(self, rank: int) -> list[StepParts]:
        """The steps of all repeats of a rank."""
        return [step for steps in self.steps[rank] for step in steps]


def way_of(name: str, runs: Sequence[Run], ignored: frozenset[str]) -> Way:
    """Group ``runs`` by rank; raises ``InputRefusal`` for ranks that were run unequally often."""
    by_rank: dict[int, list[Run]] = {}
    for run in runs:
        if run.timeline.rank is None:
            raise InputRefusal(
                "distributedInfo.rank", "is missing", "initialise torch.distributed before the profiler", file=run.file
            )
        by_rank.setdefault(run.timeline.rank, []).append(run)
    counts = {rank: len(found) for rank, found in by_rank.items()}
    if len(set(counts.values())) > 1:
        raise InputRefusal(f"--{name}", f"has runs per rank {counts}", "give every rank's profile of every repeat")
    ordered = dict(sorted(by_rank.items()))
    steps = {rank: [steps_of(run.timeline, ignored) for run in found] for rank, found in ordered.items()}
    way = Way(name, ordered, steps)
    for run, found in ((run, s) for r in ordered for run, s in zip(ordered[r], steps[r], strict=True)):
        if not found:
            raise InputRefusal("traceEvents", "nothing ran in any profiler step", "profile whole steps", file=run.file)
    return way


def check_same_job(ways: Mapping[str, Way]) -> tuple[Outcome, Outcome]:
    """Refuse ways that are not those of one job; the outcomes of comparing message sizes and shapes.

    Raises ``IntegrityRefusal`` naming file and both values where ranks, step counts, kernels, shapes or
    messages differ, and ``InputRefusal`` where a way is not what it is given as.
    """
    compute, communication, overlapped = ways[COMPUTE], ways[COMMUNICATION], ways[OVERLAPPED]
    for way in (compute, communication):
        if list(way.runs) != list(overlapped.runs):
            raise IntegrityRefusal(
                f"--{way.name}", f"has ranks {list(way.runs)}, --overlapped {list(overlapped.runs)}", "profile the same"
            )
    _check_alone(compute, communication)
    reference = _steps(overlapped.all_runs[0], overlapped)
    for way in ways.values():
        for run in way.all_runs:
            count = _steps(run, way)
            if count != reference:
                raise IntegrityRefusal(
                    "steps", f"are {count}, those of {overlapped.all_runs[0].file} {reference}",
                    "profile the same number of steps in all runs", file=run.file,
                )  # fmt: skip
    return _check_messages(communication, overlapped), _check_compute(compute, overlapped)


def _steps(run: Run, way: Way) -> int:
    return next(len(s) for r in way.runs for other, s in zip(way.runs[r], way.steps[r], strict=True) if other is run)


def _check_alone(compute: Way, communication: Way) -> None:
    for way, field, other in ((compute, "communication", "compute"), (communication, "compute", "communication")):
        for rank, runs in way.runs.items():
            for run, steps in zip(runs, way.steps[rank], strict=True):
                share = sum(getattr(step, field) for step in steps)
                if share:
                    name = next(n for s in steps for n, *_ in (s.collectives if other == "compute" else s.kernels))
                    raise InputRefusal(
                        f"--{way.name}",
                        f"holds {field} as well: {share} ns, the first in {name!r}",
                        f"profile the {other} alone; kernels that belong to it go to --ignore-kernel",
                        file=run.file,
                    )
                if not sum(getattr(step, other) for step in steps):
                    raise InputRefusal(f"--{way.name}", f"holds no {other}", "give the right profile", file=run.file)


def _check_messages(communication: Way, overlapped: Way) -> Outcome:
    unknown = None
    for rank in overlapped.runs:
        reference = communication.runs[rank][0]
        wanted = Counter(kind for step in communication.steps[rank][0] for kind, *_ in step.collectives)
        expected = counted_calls(reference.timeline)
        for way in (communication, overlapped):
            for run, steps in zip(way.runs[rank], way.steps[rank], strict=True):
                seen = Counter(kind for step in steps for kind, *_ in step.collectives)
                _refuse_difference("collectives", seen, wanted, run.file, reference.file)
                calls = counted_calls(run.timeline)
                if calls is None or expected is None:
                    unknown = run.timeline.no_calls or "the profiles name no calls"
                else:
                    _refuse_difference("messages", calls, expected, run.file, reference.file)
    if unknown is not None:
        return Outcome(UNKNOWN, unknown)
    return Outcome(PASSED, "operation, bytes, type and ranks of every call agree")


def _check_compute(compute: Way, overlapped: Way) -> Outcome:
    shaped = True
    for rank in overlapped.runs:
        reference = compute.runs[rank][0]
        names = _names(compute.steps[rank][0])
        wanted = _shapes(reference, names)
        for way in (compute, overlapped):
            for run, steps in zip(way.runs[rank], way.steps[rank], strict=True):
                _refuse_difference("kernels", _names(steps), names, run.file, reference.file)
                _refuse_difference("shapes", _shapes(run, names), wanted, run.file, reference.file)
        shaped = shaped and any(shape for _, shape in wanted)
    if not shaped:
        return Outcome(UNKNOWN, "the profiles hold no shapes (record_shapes=True)")
    return Outcome(PASSED, "names, counts and shapes of the compute agree")


def _names(steps: Sequence[StepParts]) -> Counter[str]:
    return Counter(name for step in steps for name, _ in step.kernels)


def _shapes(run: Run, names: Counter[str]) -> Counter[tuple[str, str]]:
    return Counter({key: count for key, count in run.shapes.items() if key[0] in names})


def _refuse_difference(what: str, seen: Counter[T], wanted: Counter[T], file: str, reference: str) -> None:
    different = sorted((key for key in {*seen, *wanted} if seen[key] != wanted[key]), key=str)
    if different:
        key = different[0]
        raise IntegrityRefusal(
            what,
            f"{key} occurs {seen[key]} times, {wanted[key]} times in {reference}"
            + (f"; {len(different) - 1} more differ" if len(different) > 1 else ""),
            "profile three ways of the same job; kernels that belong to the communication go to --ignore-kernel",
            file=file,
        )
