"""Stage: source trace and representation -> how often both decide alike, and what the policy makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commcanary.artifacts.files import check_suffix, write_artifact
from commcanary.artifacts.jsontext import convert
from commcanary.artifacts.stored import Stored
from commcanary.compile.compiler import CompileSettings, compile_trace
from commcanary.judge.compare import compare
from commcanary.judge.policy import POLICY_OUTCOME, Policy, judged_by
from commcanary.judge.ranking import rank
from commcanary.judge.reference import ranking_row
from commcanary.judge.statistics import DECISIONS, decision_statistics
from commcanary.judge.thresholds import Thresholds
from commcanary.replay.configuration import Configuration, Protocol
from commcanary.replay.report import Replayer
from commcanary.stages.reading import naming, read_canary, read_trace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from commcanary.artifacts.canary import Canary
    from commcanary.judge.comparison import Comparison
    from commcanary.judge.policy import PolicyOutcome
    from commcanary.replay.report import ReportHeader


def decide_stage(
    trace_path: Path,
    canary_path: Path,
    decisions_path: Path,
    policy_path: Path,
    representation: str,
    configurations: Sequence[Mapping[str, Any]],
    *,
    baseline: str,
    thresholds: Mapping[str, Any],
    confidence: float | None,
    tie_us: float,
    policy: Mapping[str, Any],
    protocol: Mapping[str, Any],
    model: str,
    assumptions: Mapping[str, float],
) -> PolicyOutcome:
    """Compare every configuration against ``baseline`` on the source and on the representation, and count.

    The source is the trace compiled without loss. Everything but the paths comes as plain data, as a
    campaign's rule has it. Both documents are written whatever the outcome.
    """
    check_suffix(decisions_path)
    check_suffix(policy_path)
    trace, canary = read_trace(trace_path), read_canary(canary_path)
    drawn = convert(protocol, Protocol)
    named = {str(c.name): c for c in convert(configurations, list[Configuration])}
    limits, declared = convert(thresholds, Thresholds), convert(policy, Policy)

    def reports(replayed: Canary, path: Path) -> dict[str, Stored[ReportHeader]]:
        with naming(path):
            replayer = Replayer(replayed, model, drawn.ablations, assumptions)
        return {name: replayer.report(configuration, drawn) for name, configuration in named.items()}

    def comparisons(found: Mapping[str, Stored[ReportHeader]]) -> dict[str, Comparison]:
        others = [name for name in found if name != baseline]
        return {name: compare(found[baseline], found[name], limits, confidence=confidence) for name in others}

    source = reports(compile_trace(trace, CompileSettings()), trace_path)
    represented = reports(canary, canary_path)
    statistics = decision_statistics(
        representation,
        comparisons(source),
        comparisons(represented),
        runs=len(drawn.seeds) * drawn.iterations,
        tie_band_points=declared.tie_band_points,
    )
    outcome = judged_by(declared, statistics, rank(_ranked(source), _ranked(represented), tie_us))
    write_artifact(decisions_path, DECISIONS, Stored(statistics))
    write_artifact(policy_path, POLICY_OUTCOME, Stored(outcome))
    return outcome


def _ranked(reports: Mapping[str, Stored[ReportHeader]]) -> dict[str, dict[str, float]]:
    headers = {name: report.header for name, report in reports.items()}
    return {
        name: ranking_row(header.metrics, None if header.schedule is None else header.schedule.makespan_us)
        for name, header in headers.items()
    }
