"""show --why of what a campaign decides: each configuration's decision, and the criterion that ended the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from commcanary.judge.policy import PASS

if TYPE_CHECKING:
    from commcanary.judge.comparison import Interval
    from commcanary.judge.policy import PolicyOutcome
    from commcanary.judge.statistics import Decision, DecisionStatistics

_MADE_AGAIN = "reproduce: commcanary campaign run CONFIG (the configuration that the manifest beside it resolves)"


def explain_decisions(found: DecisionStatistics) -> list[str]:
    """Line by line: how the representation decides beside its source, configuration by configuration."""
    share = "no decision outside the tie band" if found.agreement is None else f"agreement {found.agreement:.3f}"
    if found.agreement_low is not None and found.agreement_high is not None:
        share += f" [{found.agreement_low:.3f}, {found.agreement_high:.3f}]"
    lines = [
        f"decisions of {found.representation} against its source: {share}; {found.false_negatives} missed regressions, "
        f"{found.false_positives} false alarms, {found.undecided} undecided, {found.in_tie_band} within "
        f"{found.tie_band_points:g} points of a threshold",
        *(_decision(decision) for decision in found.decisions),
        *(f"{name}: only one side has it" for name in found.one_sided),
    ]
    if found.mismatched:
        lines.append(f"{found.mismatched} comparisons are of reports that do not belong together")
    return [*lines, f"runs per report: {found.runs}", _MADE_AGAIN]


def explain_policy(found: PolicyOutcome) -> list[str]:
    """Line by line: the outcome, the criterion behind it with both numbers, and every other criterion."""
    lines = [f"policy outcome of {found.representation}: {found.outcome} ({found.reason_code})", found.detail]
    if found.outcome != PASS:
        asked = "nothing" if found.required is None else f"{found.required:g}"
        lines.append(f"found {'nothing' if found.found is None else f'{found.found:g}'}, required {asked}")
    lines += [
        f"policy {name}: {'asks nothing' if value is None else f'{value:g}'}"
        for name, value in msgspec.structs.asdict(found.policy).items()
    ]
    return [*lines, _MADE_AGAIN]


def _decision(d: Decision) -> str:
    margin = "" if d.source_margin_points is None else f", {d.source_margin_points:+.1f} points from its threshold"
    return (
        f"{d.configuration}: {d.outcome}; source {d.source_verdict} "
        f"(p99 {_change(d.source_p99_delta_us, d.source_p99_interval)}{margin}), representation "
        f"{d.representation_verdict} (p99 {_change(d.representation_p99_delta_us, d.representation_p99_interval)})"
    )


def _change(delta_us: float, interval: Interval | None) -> str:
    return f"{delta_us:+.3f} us" + ("" if interval is None else f" [{interval.low:+.3f}, {interval.high:+.3f}]")
