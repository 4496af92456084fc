"""One number of two reports against its threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.judge.comparison import (
    FAIL,
    GONE,
    INCONCLUSIVE,
    NEW,
    NOT_GATED,
    PASS,
    WARN,
    Evaluation,
    Interval,
)
from commcanary.units import r3

if TYPE_CHECKING:
    from collections.abc import Callable

    from commcanary.judge.thresholds import Thresholds
    from commcanary.replay.metrics import NamedSummary
    from commcanary.replay.report import ReportHeader

    Intervals = Callable[[str, str | None, str], Interval | None]
    """The interval of (scope, name, statistic), or None where there is none."""

STATISTICS = ("p99", "p95", "median")
"""The statistics that are gated, most telling first."""

HIDDEN = "communication_hidden_pct"

MAKESPAN = "makespan"
"""The median makespan over runs, of reports that have schedules."""


def exceeds(baseline: float, delta: float, percent: float, floor: float) -> bool:
    """Whether a rise is over the floor (us) and over the percentage; from a baseline of 0 any rise is."""
    return delta > floor and over_percentage(baseline, delta, percent)


def over_percentage(baseline: float, delta: float, percent: float) -> bool:
    """Whether a rise is over ``percent`` of the baseline, whatever its size."""
    return delta > 0 and (baseline == 0 or 100 * delta / baseline > percent)


def relative_pct(baseline: float, delta: float) -> float | None:
    """The change in percent of the baseline; null from 0, where no percentage says it."""
    return None if baseline == 0 else r3(100 * delta / baseline)


def evaluations(
    baseline: ReportHeader, candidate: ReportHeader, thresholds: Thresholds, intervals: Intervals, *, gated: bool
) -> tuple[Evaluation, ...]:
    """Every number that the verdict rests on: whole run, makespan where both have one, hidden share, parts.

    ``gated`` says that intervals decide: then a row without one can warn but not fail.
    """
    whole = [
        _latency(
            statistic,
            "run",
            None,
            getattr(baseline.metrics, f"{statistic}_us"),
            getattr(candidate.metrics, f"{statistic}_us"),
            thresholds.of_run(statistic),
            intervals("run", None, statistic),
            gated,
        )
        for statistic in STATISTICS
    ]
    if baseline.schedule is not None and candidate.schedule is not None:
        whole.append(
            _latency(
                MAKESPAN,
                "run",
                None,
                baseline.schedule.makespan_us,
                candidate.schedule.makespan_us,
                thresholds.of_run(MAKESPAN),
                intervals("run", None, MAKESPAN),
                gated,
            )
        )
    hidden = _hidden(
        baseline.metrics.communication_hidden_pct,
        candidate.metrics.communication_hidden_pct,
        thresholds.hidden_drop_threshold_points,
        intervals("run", None, HIDDEN),
        gated,
    )
    rows = [
        *_breakdown("phase", baseline.by_phase, candidate.by_phase, thresholds, intervals, gated),
        *_breakdown("operation", baseline.by_op, candidate.by_op, thresholds, intervals, gated),
    ]
    return (*whole, hidden, *rows)


def _breakdown(
    scope: str,
    baseline: tuple[NamedSummary, ...],
    candidate: tuple[NamedSummary, ...],
    thresholds: Thresholds,
    intervals: Intervals,
    gated: bool,
) -> list[Evaluation]:
    before, after = {row.name: row for row in baseline}, {row.name: row for row in candidate}
    found = []
    for name in sorted(before.keys() | after.keys()):
        if name not in before or name not in after:
            found.append(_one_sided(scope, name, NEW if name in after else GONE))
            continue
        found += [
            _latency(
                statistic,
                scope,
                name,
                getattr(before[name], f"{statistic}_us"),
                getattr(after[name], f"{statistic}_us"),
                thresholds.of_breakdown,
                intervals(scope, name, statistic),
                gated,
            )
            for statistic in STATISTICS
        ]
    return found


def _latency(
    statistic: str,
    scope: str,
    name: str | None,
    baseline: float,
    candidate: float,
    threshold: tuple[float, float],
    interval: Interval | None,
    gated: bool,
) -> Evaluation:
    percent, floor = threshold
    delta = r3(candidate - baseline)
    fails = exceeds(baseline, delta, percent, floor)
    if fails:
        result = FAIL
    elif over_percentage(baseline, delta, percent):
        result = NOT_GATED
    else:
        result = WARN if exceeds(baseline, delta, percent / 2, floor / 2) else PASS
    return Evaluation(
        metric=statistic,
        scope=scope,
        name=name,
        baseline=baseline,
        candidate=candidate,
        absolute_delta=delta,
        relative_delta_pct=relative_pct(baseline, delta),
        threshold_pct=percent,
        absolute_threshold_us=floor,
        threshold_points=None,
        threshold_result=_with_interval(result, interval, gated, part=scope != "run"),
        interval=interval,
    )


def _hidden(baseline: float, candidate: float, points: float, interval: Interval | None, gated: bool) -> Evaluation:
    drop = r3(baseline - candidate)
    result = FAIL if drop > points else WARN if drop > points / 2 else PASS
    return Evaluation(
        metric=HIDDEN,
        scope="run",
        name=None,
        baseline=baseline,
        candidate=candidate,
        absolute_delta=r3(candidate - baseline),
        relative_delta_pct=None,
        threshold_pct=None,
        absolute_threshold_us=None,
        threshold_points=points,
        threshold_result=_with_interval(result, interval, gated, part=False),
        interval=interval,
    )


def _one_sided(scope: str, name: str, result: str) -> Evaluation:
    return Evaluation("row", scope, name, None, None, None, None, None, None, None, result)


def _with_interval(result: str, interval: Interval | None, gated: bool, *, part: bool) -> str:
    """The result that an interval leaves of a point estimate.

    There are many parts, and the rare ones have few samples: if each wide interval made the verdict
    inconclusive, one in twenty per part would do so with nothing changed. A part whose estimate is within its
    threshold warns instead; over it, it is as inconclusive as the whole run.
    """
    if not gated:
        return result
    if interval is None:
        return WARN if result == FAIL else result
    if interval.margin_low > 0:
        return FAIL
    if interval.margin_high > 0:
        return WARN if part and result != FAIL else INCONCLUSIVE
    return WARN if result == FAIL else result
