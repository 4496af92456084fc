"""Source and canary under one configuration, number by number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.judge.behavior import ConfigurationBehavior, MetricCheck
from commcanary.judge.ranking import MAKESPAN_US
from commcanary.units import r3

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commcanary.judge.reference import Outcome
    from commcanary.judge.tolerances import Tolerances
    from commcanary.replay.configuration import Configuration
    from commcanary.replay.metrics import ExposedMetrics, LatencySummary, NamedSummary

STATISTICS = ("median_us", "p95_us", "p99_us", "max_us", "mean_us")


def behavior_under(
    name: str, configuration: Configuration, source: Outcome, canary: Outcome, tolerances: Tolerances
) -> ConfigurationBehavior:
    """Every check of one configuration."""
    ours, theirs = source.metrics, canary.metrics
    checks = (
        _count(ours.metrics.count, theirs.metrics.count),
        *_latencies(None, ours.metrics, theirs.metrics, tolerances),
        _hidden(ours.metrics.communication_hidden_pct, theirs.metrics.communication_hidden_pct, tolerances),
        *_makespan(source.makespan_us, canary.makespan_us, tolerances),
    )
    queue_wait = tuple(_latencies(None, ours.queue_wait, theirs.queue_wait, tolerances))
    phases = tuple(_breakdown(ours.by_phase, theirs.by_phase, tolerances))
    ops = tuple(_breakdown(ours.by_op, theirs.by_op, tolerances))
    recall = source.tails.recall(canary.exposed_us, tolerances.tail_recall)
    statuses = [check.status for check in (*checks, *queue_wait, *phases, *ops)] + [r.status for r in recall]
    return ConfigurationBehavior(
        name=name,
        status="fail" if "fail" in statuses else "pass",
        configuration=configuration,
        checks=checks,
        queue_wait_checks=queue_wait,
        phase_checks=phases,
        op_checks=ops,
        tail_event_recall=recall,
    )


def failures(behavior: ConfigurationBehavior) -> Iterator[str]:
    """One line per failed check: row, field, both values and the threshold."""
    groups = (
        ("", behavior.checks),
        ("queue wait ", behavior.queue_wait_checks),
        ("phase ", behavior.phase_checks),
        ("operation ", behavior.op_checks),
    )
    for word, checks in groups:
        for check in checks:
            if check.status == "fail":
                yield f"{behavior.name}: {word}{_line(check)}"
    for recall in behavior.tail_event_recall:
        if recall.status == "fail":
            found = "has another number of events" if recall.smallest is None else f"is {recall.smallest}"
            yield f"{behavior.name}: tail recall at {recall.percentile} {found}; {recall.required} is required"


def _line(check: MetricCheck) -> str:
    name = check.name if check.of is None else f"{check.of!r} {check.name}"
    if check.source is None or check.canary is None:
        return f"{name} is missing in the {'source' if check.source is None else 'canary'}"
    allowed = f"{check.tolerance:g}" + ("" if check.tolerance_pct is None else f" or {check.tolerance_pct:g} %")
    return f"{name} is {check.canary:g} where the source has {check.source:g}; within {allowed} is allowed"


def _count(source: int, canary: int) -> MetricCheck:
    status = "pass" if source == canary else "fail"
    return MetricCheck("count", None, status, source, canary, canary - source, None, 0, None)


def _hidden(source: float, canary: float, tolerances: Tolerances) -> MetricCheck:
    delta = r3(canary - source)
    status = "pass" if abs(delta) <= tolerances.hidden_points else "fail"
    return MetricCheck(
        "communication_hidden_pct", None, status, source, canary, delta, None, tolerances.hidden_points, None
    )


def _makespan(source: float | None, canary: float | None, tolerances: Tolerances) -> Iterator[MetricCheck]:
    """One check where the model has schedules: it sums over all that happens, so errors average out."""
    if source is not None and canary is not None:
        yield _within(MAKESPAN_US, None, source, canary, tolerances.absolute_us, tolerances.makespan_pct)


def _latencies(
    of: str | None,
    source: ExposedMetrics | LatencySummary | NamedSummary,
    canary: ExposedMetrics | LatencySummary | NamedSummary,
    tolerances: Tolerances,
) -> Iterator[MetricCheck]:
    for name in STATISTICS:
        yield _within(
            name, of, getattr(source, name), getattr(canary, name), tolerances.absolute_us, tolerances.relative_pct
        )


def _within(
    name: str, of: str | None, source: float, canary: float, absolute_us: float, relative_pct: float
) -> MetricCheck:
    delta = r3(canary - source)
    within = abs(delta) <= absolute_us or abs(delta) * 100 <= relative_pct * source
    relative = r3(100 * delta / source) if source else None
    return MetricCheck(
        name, of, "pass" if within else "fail", source, canary, delta, relative, absolute_us, relative_pct
    )


def _breakdown(
    source: tuple[NamedSummary, ...], canary: tuple[NamedSummary, ...], tolerances: Tolerances
) -> Iterator[MetricCheck]:
    ours, theirs = {row.name: row for row in source}, {row.name: row for row in canary}
    for name in sorted(ours.keys() | theirs.keys()):
        if name in ours and name in theirs:
            yield from _latencies(name, ours[name], theirs[name], tolerances)
        else:
            has, lacks = (ours[name].count, None) if name in ours else (None, theirs[name].count)
            yield MetricCheck("count", name, "fail", has, lacks, None, None, 0, None)
