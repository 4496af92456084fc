"""The study of three runs as a document."""

from __future__ import annotations

import msgspec

from commcanary.artifacts.document import document_kind
from commcanary.artifacts.stored import SourceFile
from commcanary.timeline.three_runs import Distribution, Equation, Slowdown

STUDY_FORMAT = "commcanary.overlap_study.v1"

COMPUTE, COMMUNICATION, OVERLAPPED = "compute", "communication", "overlapped"
SIDES = (COMPUTE, COMMUNICATION, OVERLAPPED)

BETTER, WORSE, INCONCLUSIVE, UNKNOWN, WRONG_RESULTS = "better", "worse", "inconclusive", "unknown", "wrong_results"
PASSED, FAILED = "passed", "failed"


class Side(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The runs of one way: their ranks, how often each was run, and the steps of each run."""

    name: str
    ranks: tuple[int, ...]
    repeats: int
    steps: int


class KernelSlowdown(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All launches of one compute kernel, or all collectives of one size (``bytes`` null: unknown or no collective).

    ``added_us`` is the difference of the totals per step.
    """

    name: str
    bytes: int | None
    slowdown: Slowdown
    added_us: float


class RankStudy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One rank. ``exposed_us`` is communication without compute, ``tail_us`` communication after the last compute."""

    rank: int
    compute: Slowdown
    communication: Slowdown
    exposed_us: Distribution
    hidden_us: Distribution
    tail_us: Distribution
    equation_ns: Equation
    kernels: tuple[KernelSlowdown, ...]
    collectives: tuple[KernelSlowdown, ...]


class StepTimes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Complete steps on the host, us, of the slowest rank each: of every way.

    ``gain_us`` is the difference of medians: compute alone + communication alone - overlapped, with its
    bootstrap interval at ``level``.
    """

    compute: Distribution
    communication: Distribution
    overlapped: Distribution
    gain_us: float
    interval_us: tuple[float, float]
    level: float


class Outcome(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An outcome and why."""

    outcome: str
    reason: str


class Memory(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Peak bytes of one way over its profiles, by device (type and number); null where no memory event is there."""

    side: str
    peak_allocated: dict[str, int] | None
    peak_reserved: dict[str, int] | None
    unknown: str | None


class Counters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Counters (clocks, memory bandwidth) of one way by name; null where the profiles have none."""

    side: str
    values: dict[str, Distribution] | None
    unknown: str | None


class OverlapStudy(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="format", tag=STUDY_FORMAT
):
    """``verdict`` is better, worse, inconclusive, wrong_results, or unknown where step times or correctness are.

    ``message_sizes`` says whether the calls of B and C could be compared; ``ignored`` are kernels left out.
    """

    verdict: Outcome
    sides: tuple[Side, ...]
    ranks: tuple[RankStudy, ...]
    step_times: StepTimes | None
    correctness: Outcome
    message_sizes: Outcome
    shapes: Outcome
    memory: tuple[Memory, ...]
    counters: tuple[Counters, ...]
    ignored: tuple[str, ...]
    assumptions: tuple[str, ...]
    source_files: tuple[SourceFile, ...] = ()


OVERLAP_STUDY = document_kind("overlap study", STUDY_FORMAT, OverlapStudy)
