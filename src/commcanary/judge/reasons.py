"""What a comparison says in words. Every reason names the metric that tripped, worst first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from commcanary.judge.comparison import FAIL, GONE, INCONCLUSIVE, NEW, NOT_GATED, WARN
from commcanary.judge.evaluate import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commcanary.judge.comparison import Comparison, Evaluation

_SEVERITY = {FAIL: 0, INCONCLUSIVE: 1, WARN: 2, NOT_GATED: 2, NEW: 3, GONE: 3}
_SCOPE = {"run": 0, "phase": 1, "operation": 2}


def worst_first(evaluations: Iterable[Evaluation]) -> list[Evaluation]:
    """What did not pass: failures first, the whole run before its parts, then by size of the change."""
    return sorted((e for e in evaluations if e.threshold_result in _SEVERITY), key=_order)


def reason(evaluation: Evaluation) -> str:
    """One line about an evaluation that did not pass."""
    e, what = evaluation, subject(evaluation)
    if e.threshold_result == NEW:
        return f"{what} is new: only the candidate has it"
    if e.threshold_result == GONE:
        return f"{what} is gone: only the baseline has it"
    if e.threshold_result == NOT_GATED:
        return not_gated(e)
    if e.threshold_result == INCONCLUSIVE:
        return f"{what}: {_interval(e)} straddles {_limit(e)}"
    if e.threshold_result == WARN and e.interval is not None and e.interval.margin_high > 0:
        return f"{what}: {_interval(e)} reaches beyond {_limit(e)}: its samples cannot exclude a regression"
    if e.metric == HIDDEN:
        return f"{what} drop {-(e.absolute_delta or 0.0):.1f} points exceeds {_level(e)}"
    if e.relative_delta_pct is None:
        return f"{what} regression from 0 to {e.candidate:.3f} us is new: any rise above {_floor(e)} counts"
    return f"{what} regression {e.relative_delta_pct:.1f}% exceeds {_level(e)}"


def interval_lines(comparison: Comparison) -> list[str]:
    """One line per number of the whole run that has an interval, whatever became of it."""
    stated = comparison.confidence
    if stated is None:
        return []
    pairing = "paired by seed" if stated.paired else "not paired"
    lines = [
        f"{100 * stated.level:g} % intervals of the change "
        f"({stated.baseline_runs} against {stated.candidate_runs} runs, {pairing}, {stated.resamples} resamples):"
    ]
    for e in comparison.evaluations:
        if e.interval is not None and e.scope == "run":
            unit = "points" if e.metric == HIDDEN else "us"
            line = (
                f"  {subject(e)} {e.absolute_delta or 0.0:+.3f} {unit} [{e.interval.low:+.3f}, {e.interval.high:+.3f}]"
            )
            if e.relative_delta_pct is not None and e.interval.low_pct is not None and e.interval.high_pct is not None:
                line += f", {e.relative_delta_pct:+.1f} % [{e.interval.low_pct:+.1f}, {e.interval.high_pct:+.1f}]"
            lines.append(f"{line}: {e.threshold_result}")
    return lines


def not_gated(e: Evaluation) -> str:
    """The line about a change over its percentage but under its floor."""
    change = "from 0" if e.relative_delta_pct is None else f"{e.relative_delta_pct:+.1f} %"
    delta = e.absolute_delta or 0.0
    rise = f"{delta:+.1f} us" if abs(delta) >= 1 else f"{delta:+.3f} us"
    return f"not gated: {subject(e)} {change} ({rise}) is under the floor of {e.absolute_threshold_us:g} us"


def subject(e: Evaluation) -> str:
    """``p99``, ``hidden``, ``phase 'decode' p99``, ``operation 'all_reduce' p95``."""
    metric = "hidden" if e.metric == HIDDEN else e.metric
    if e.scope == "run":
        return metric
    return f"{e.scope} {e.name!r}" + ("" if e.metric == "row" else f" {metric}")


def _order(e: Evaluation) -> tuple[float, ...]:
    change = math.inf if e.relative_delta_pct is None else e.relative_delta_pct
    if e.metric == HIDDEN:
        change = -math.inf  # points are no percentage: after the latencies of the run
    return _SEVERITY[e.threshold_result], _SCOPE[e.scope], -change


def _level(e: Evaluation) -> str:
    share = 1.0 if e.threshold_result == FAIL or _without_interval(e) else 0.5
    suffix = "" if share == 1.0 else " (half the threshold)"
    if e.metric == HIDDEN:
        return f"{share * (e.threshold_points or 0.0):.1f} points{suffix}"
    return f"{share * (e.threshold_pct or 0.0):.1f}%{suffix}"


def _without_interval(e: Evaluation) -> bool:
    """A warning that exceeds the whole threshold: an interval was asked for and there is none, or it is wide."""
    if e.metric == HIDDEN:
        return -(e.absolute_delta or 0.0) > (e.threshold_points or 0.0)
    return e.relative_delta_pct is not None and e.relative_delta_pct > (e.threshold_pct or 0.0)


def _floor(e: Evaluation) -> str:
    share = 1.0 if e.threshold_result == FAIL else 0.5
    return f"{share * (e.absolute_threshold_us or 0.0):g} us"


def _limit(e: Evaluation) -> str:
    if e.metric == HIDDEN:
        return f"a drop of {e.threshold_points:.1f} points"
    return f"{e.threshold_pct:.1f}% and {e.absolute_threshold_us:g} us"


def _interval(e: Evaluation) -> str:
    found = e.interval
    assert found is not None
    if e.metric == HIDDEN:
        return f"[{found.low:+.2f}, {found.high:+.2f}] points"
    if found.low_pct is None or found.high_pct is None:
        return f"[{found.low:+.3f}, {found.high:+.3f}] us"
    return f"[{found.low_pct:+.1f}%, {found.high_pct:+.1f}%]"
