"""show --why VERDICT: the row, both values, the threshold, and the command that reproduces the verdict.

Verdicts know their inputs by content id; in the commands these stand in capitals, with a line each that says
which artifact is meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from commcanary.errors import UsageError
from commcanary.judge.behavior import BehaviorVerification
from commcanary.judge.checks import FAIL, NOT_CHECKABLE, shortened
from commcanary.judge.comparison import Comparison
from commcanary.judge.evaluate import HIDDEN
from commcanary.judge.explain_decisions import explain_decisions, explain_policy
from commcanary.judge.policy import PolicyOutcome
from commcanary.judge.reasons import interval_lines, subject, worst_first
from commcanary.judge.report_verification import ReportVerification
from commcanary.judge.source_verification import SourceVerification
from commcanary.judge.stability import STABLE, instability_reason
from commcanary.judge.statistics import DecisionStatistics
from commcanary.judge.thresholds import Thresholds
from commcanary.judge.tolerances import Tolerances

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.judge.checks import Check
    from commcanary.judge.comparison import Evaluation

_ID_DIGITS = 12


def explain(verdict: msgspec.Struct, file: Path) -> list[str]:
    """The explanation of a verdict document, line by line; ``file`` is where it is stored.

    Raises ``UsageError`` for a document that is no verdict.
    """
    if isinstance(verdict, Comparison):
        return [*_comparison(verdict), *_compare_command(verdict, file)]
    if isinstance(verdict, BehaviorVerification):
        return [*_behavior(verdict), *_behavior_command(verdict, file)]
    if isinstance(verdict, DecisionStatistics):
        return explain_decisions(verdict)
    if isinstance(verdict, PolicyOutcome):
        return explain_policy(verdict)
    if isinstance(verdict, SourceVerification):
        return [
            f"source verification: {verdict.status}",
            *_checks(verdict.checks),
            _meant("TRACE", "trace", verdict.trace),
            _meant("CANARY", "canary", verdict.canary),
            f"reproduce: commcanary verify-source TRACE CANARY -o {file}",
        ]
    if isinstance(verdict, ReportVerification):
        return [
            f"report verification: {verdict.status} (samples: {verdict.samples})",
            *_checks(verdict.checks),
            _meant("REPORT", "report", verdict.report),
            _meant("CANARY", "canary", verdict.canary),
            f"reproduce: commcanary verify-report REPORT CANARY -o {file}",
        ]
    raise UsageError(f"{file}: --why explains a verdict (a comparison, a verification, decisions, a policy's outcome)")


def _comparison(verdict: Comparison) -> list[str]:
    lines = [f"comparison verdict: {verdict.verdict}"]
    lines += [instability_reason(side) for side in verdict.stability if side.outcome != STABLE]
    lines += [_evaluation(evaluation) for evaluation in worst_first(verdict.evaluations)]
    lines += [
        f"{m.field}: baseline {m.baseline}, candidate {m.candidate}; must be equal"
        for m in verdict.compatibility.mismatches
    ]
    if len(lines) == 1 and verdict.reasons:
        lines += verdict.reasons
    if len(lines) == 1:
        lines.append("every number is within half of its threshold")
    return [*lines, *interval_lines(verdict)]


def _evaluation(e: Evaluation) -> str:
    if e.baseline is None or e.candidate is None:
        return f"{subject(e)}: {e.threshold_result}; phases and operations must be the same on both sides"
    unit = "%" if e.metric == HIDDEN else "us"
    change = f"{e.absolute_delta:+.3f} {'points' if e.metric == HIDDEN else 'us'}"
    if e.relative_delta_pct is not None:
        change += f", {e.relative_delta_pct:+.1f} %"
    limit = (
        f"a drop of {e.threshold_points:g} points"
        if e.metric == HIDDEN
        else f"{e.threshold_pct:g} % and {e.absolute_threshold_us:g} us"
    )
    line = (
        f"{subject(e)}: baseline {e.baseline:.3f} {unit}, candidate {e.candidate:.3f} {unit} ({change}); "
        f"threshold {limit}, half of it warns: {e.threshold_result}"
    )
    if e.interval is not None:
        line += f"; interval of the change [{e.interval.low:+.3f}, {e.interval.high:+.3f}]"
    return line


def _compare_command(verdict: Comparison, file: Path) -> list[str]:
    options = _options(verdict.thresholds, Thresholds(), only=_COMPARE_OPTIONS)
    if verdict.compatibility.mismatches:
        options += " --allow-mismatch"
    if verdict.confidence is not None:
        options += f" --confidence {verdict.confidence.level:g}"
        if any(e.interval is not None and e.scope != "run" for e in verdict.evaluations):
            options += " --canary CANARY"
    return [
        _meant("BASELINE", "report", verdict.baseline.content_id),
        _meant("CANDIDATE", "report", verdict.candidate.content_id),
        f"reproduce: commcanary compare BASELINE CANDIDATE -o {file}{options}",
    ]


_COMPARE_OPTIONS = frozenset(name for name in Thresholds.__struct_fields__ if "threshold" in name)
"""Thresholds that are options of the command; the others are settings of a campaign."""


def _behavior(verdict: BehaviorVerification) -> list[str]:
    return [
        f"behavior verification: {verdict.status}",
        *(
            f"{name}: {getattr(verdict, name)}"
            for name in (
                "representation_fidelity_status",
                "source_verified_status",
                "source_coverage_status",
                "behavioral_fidelity_status",
                "configuration_ranking_status",
            )
        ),
        *(f"remark: {line}" for line in verdict.remarks),
        *verdict.blocked_by,
        *verdict.reasons,
    ]


def _behavior_command(verdict: BehaviorVerification, file: Path) -> list[str]:
    protocol = verdict.protocol
    names = ", ".join(configuration.name for configuration in verdict.configurations)
    options = "".join(f" --seed {seed}" for seed in protocol.seeds)
    options += f" --iterations {protocol.iterations} --model {protocol.model}"
    options += _options(verdict.tolerances, Tolerances())
    options += "".join(f" --assume {field}={value:g}" for field, value in sorted(verdict.assumptions.items()))
    lines = [
        _meant("TRACE", "trace", verdict.trace),
        _meant("CANARY", "canary", verdict.canary),
        f"CONFIGURATIONS: a file of {names}",
    ]
    if verdict.held_out is not None:
        lines.append(f"HELD_OUT: a file of {', '.join(c.name for c in verdict.held_out.configurations)}")
        options += " --held-out HELD_OUT"
    return [
        *lines,
        f"reproduce: commcanary verify-behavior TRACE CANARY -o {file} --configurations CONFIGURATIONS{options}",
    ]


def _checks(checks: tuple[Check, ...]) -> list[str]:
    failed = [check for check in checks if check.status == FAIL]
    if not failed:
        apart = [check for check in checks if check.status == NOT_CHECKABLE]
        return [
            f"all {len(checks) - len(apart)} checks hold",
            *(f"{check.name} cannot be checked: {check.place}" for check in apart),
        ]
    return [f"{c.name} at {c.place}: expected {shortened(c.expected)}, found {shortened(c.actual)}" for c in failed]


def _meant(word: str, kind: str, content_id: str) -> str:
    return f"{word}: the {kind} with content id {content_id[:_ID_DIGITS]}..."


def _options(given: msgspec.Struct, default: msgspec.Struct, only: frozenset[str] | None = None) -> str:
    """The settings that differ from their defaults, as command line options."""
    names = given.__struct_fields__ if only is None else [n for n in given.__struct_fields__ if n in only]
    return "".join(
        f" --{name.replace('_', '-')} {getattr(given, name):g}"
        for name in names
        if getattr(given, name) != getattr(default, name)
    )
