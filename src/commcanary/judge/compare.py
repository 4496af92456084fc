"""compare BASELINE CANDIDATE: is the candidate slower than the thresholds allow?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.errors import EXIT_DONE, EXIT_NEGATIVE_VERDICT, IntegrityRefusal, UsageError
from commcanary.judge.bootstrap import BOOTSTRAP_SEED, RESAMPLES
from commcanary.judge.comparison import (
    FAIL,
    INCONCLUSIVE,
    NOT_GATED,
    PASS,
    UNSTABLE,
    WARN,
    Comparison,
    Compatibility,
    Confidence,
    Evaluation,
    Interval,
    Mismatch,
    Side,
    Stability,
)
from commcanary.judge.compatibility import mismatches, refuse
from commcanary.judge.evaluate import evaluations
from commcanary.judge.intervals import RunIntervals
from commcanary.judge.reasons import not_gated, reason, worst_first
from commcanary.judge.report_samples import bound_samples, by_run, needed_samples, run_count
from commcanary.judge.stability import FEWEST_RUNS, STABLE, instability_reason, stability
from commcanary.judge.thresholds import Thresholds
from commcanary.units import r3

if TYPE_CHECKING:
    from commcanary.artifacts.canary import Canary
    from commcanary.artifacts.stored import Stored
    from commcanary.replay.report import ReportHeader

_DELTAS = ("median_us", "p95_us", "p99_us", "max_us", "mean_us", "communication_hidden_pct")


def compare(
    baseline: Stored[ReportHeader],
    candidate: Stored[ReportHeader],
    thresholds: Thresholds | None = None,
    *,
    allow_mismatch: bool = False,
    confidence: float | None = None,
    canary: Canary | None = None,
) -> Comparison:
    """The verdict on ``candidate`` against ``baseline``.

    ``confidence`` (0 to 1, as 0.95) asks for bootstrap intervals; both reports must hold their samples then,
    and phases and operations get intervals only where ``canary`` is given, because samples do not say which
    event they belong to. Raises IntegrityRefusal where canary, model or protocol differ, unless
    ``allow_mismatch``, which makes the verdict a warning at best and at worst.
    """
    thresholds = thresholds or Thresholds()
    if confidence is not None and not 0 < confidence < 1:
        raise UsageError(f"--confidence is {confidence}; give a number between 0 and 1, for example 0.95")
    found = mismatches(baseline.header, candidate.header, seeds_may_differ=confidence is not None)
    if not allow_mismatch:
        refuse(found)
    sides = (baseline.header, candidate.header)
    few = confidence is not None and min(run_count(side) for side in sides) < FEWEST_RUNS
    intervals, stated = _no_interval, None
    if confidence is not None and not few:
        if canary is not None and any(side.canary.content_id != canary.content_id for side in sides):
            raise IntegrityRefusal("canary.content_id", "is not that of the given canary", "give the replayed canary")
        made = RunIntervals(
            (baseline.header, needed_samples(baseline, "--confidence")),
            (candidate.header, needed_samples(candidate, "--confidence")),
            thresholds,
            confidence,
            canary,
        )
        intervals = made.interval
        counts = [run_count(side) for side in sides]
        stated = Confidence(confidence, RESAMPLES, BOOTSTRAP_SEED, counts[0], counts[1], made.paired)
    rows = evaluations(*sides, thresholds, intervals, gated=stated is not None)
    steady = _stabilities(baseline, candidate, thresholds)
    verdict, reasons = _verdict(rows, found, steady, min(run_count(side) for side in sides) if few else None)
    return Comparison(
        verdict=verdict,
        reasons=reasons,
        not_gated=tuple(not_gated(e) for e in worst_first(rows) if e.threshold_result == NOT_GATED),
        thresholds=thresholds,
        compatibility=Compatibility("mismatch" if found else "compatible", found),
        baseline=_side(baseline),
        candidate=_side(candidate),
        delta=_deltas(*sides),
        evaluations=rows,
        confidence=stated,
        stability=steady,
    )


def comparison_exit_code(comparison: Comparison) -> int:
    """0 for pass and warn, 1 for fail, inconclusive and unstable."""
    return EXIT_DONE if comparison.verdict in (PASS, WARN) else EXIT_NEGATIVE_VERDICT


def _verdict(
    rows: tuple[Evaluation, ...],
    found: tuple[Mismatch, ...],
    steady: tuple[Stability, ...],
    too_few_runs: int | None,
) -> tuple[str, tuple[str, ...]]:
    """The verdict, and what led to it, worst first."""
    tripped = worst_first(rows)
    reasons = [reason(row) for row in tripped]
    results = {row.threshold_result for row in tripped}
    verdict = FAIL if FAIL in results else INCONCLUSIVE if INCONCLUSIVE in results else WARN if results else PASS
    if too_few_runs is not None:
        verdict = INCONCLUSIVE
        reasons.insert(0, f"inconclusive: too few runs ({too_few_runs} of at least {FEWEST_RUNS})")
    shaky = [instability_reason(side) for side in steady if side.outcome != STABLE]
    if shaky:
        verdict = UNSTABLE
    allowed = [f"mismatch: {m.field} is {m.baseline} against {m.candidate}" for m in found]
    if allowed:
        verdict = WARN
    return verdict, (*shaky, *reasons, *allowed)


def _stabilities(
    baseline: Stored[ReportHeader], candidate: Stored[ReportHeader], thresholds: Thresholds
) -> tuple[Stability, ...]:
    """How steady both sides are, where they hold samples of enough runs to say."""
    found = []
    for name, stored in (("baseline", baseline), ("candidate", candidate)):
        runs = run_count(stored.header)
        samples = bound_samples(stored) if runs >= FEWEST_RUNS else None
        if samples is not None:
            found.append(stability(name, by_run(samples.exposed_us, runs), thresholds))
    return tuple(found)


def _deltas(baseline: ReportHeader, candidate: ReportHeader) -> dict[str, float]:
    """Candidate - baseline of the whole run's numbers; the makespan where both have one."""
    found = {n: r3(getattr(candidate.metrics, n) - getattr(baseline.metrics, n)) for n in _DELTAS}
    if baseline.schedule is not None and candidate.schedule is not None:
        found["makespan_us"] = r3(candidate.schedule.makespan_us - baseline.schedule.makespan_us)
    return found


def _side(stored: Stored[ReportHeader]) -> Side:
    return Side(stored.content_id, stored.header.backend, stored.header.metrics)


def _no_interval(scope: str, name: str | None, statistic: str) -> Interval | None:
    return None
