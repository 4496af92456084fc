"""Stage: a campaign's verdicts -> the summary tables, as Parquet and CSV."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from commcanary.artifacts.atomic import write_atomically
from commcanary.artifacts.files import read_artifact
from commcanary.artifacts.trace_size import exchange_size
from commcanary.campaign.cells import refuse_incomplete
from commcanary.campaign.tables import ABLATIONS, CELLS, EXPORTS, NULL_CALIBRATIONS, REPRESENTATIONS
from commcanary.judge.ablation import ABLATION_COSTS
from commcanary.judge.behavior import BEHAVIOR
from commcanary.judge.comparison import COMPARISON
from commcanary.judge.evaluate import MAKESPAN
from commcanary.judge.null_calibration import NULL_CALIBRATION
from commcanary.judge.policy import POLICY_OUTCOME
from commcanary.judge.statistics import DECISIONS
from commcanary.judge.verify_behavior import worst_error_pct
from commcanary.replay.report import REPORT
from commcanary.stages.compare import COMPARISONS
from commcanary.stages.reading import read_canary, read_trace
from commcanary.targets.param_account import PARAM_ACCOUNT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commcanary.campaign.config import Representation
    from commcanary.campaign.plan import Plan
    from commcanary.judge.behavior import BehaviorVerification
    from commcanary.judge.comparison import Comparison
    from commcanary.targets.param_account import ParamAccount

Row = dict[str, Any]


def summary_stage(plan: Plan, results: Path, output: Path) -> None:
    """Write the tables of the campaign ``plan`` whose files lie in ``results``.

    Raises ``IntegrityRefusal``, naming what is not done, unless every expected cell is.
    """
    refuse_incomplete(plan, results)
    write_tables(plan, results, output)


def write_tables(plan: Plan, results: Path, output: Path) -> None:
    """Write the tables from the artifacts in ``results``, whoever made them."""
    for name, schema, rows in (
        ("cells", CELLS, list(_cells(plan, results))),
        ("representations", REPRESENTATIONS, list(_representations(plan, results))),
        ("exports", EXPORTS, list(_exports(plan, results))),
        ("ablations", ABLATIONS, list(_ablations(plan, results))),
        ("null_calibrations", NULL_CALIBRATIONS, list(_null_calibrations(plan, results))),
    ):
        table = pa.Table.from_pylist(rows, schema=schema)
        write_atomically(output / f"{name}.parquet", lambda stream, t=table: pq.write_table(t, stream))  # type: ignore[misc]
        write_atomically(output / f"{name}.csv", lambda stream, t=table: pa_csv.write_csv(t, stream))  # type: ignore[misc]


def _places(plan: Plan) -> Iterator[tuple[str, Representation, Path]]:
    for workload in plan.workloads:
        for representation in plan.representations(workload):
            yield workload, representation, Path(workload) / representation.name


def _cells(plan: Plan, results: Path) -> Iterator[Row]:
    for workload, representation, place in _places(plan):
        index = read_artifact(results / place / "comparisons" / "index.json", COMPARISONS).header
        compared = {entry.configuration: entry.comparison for entry in index.comparisons}
        for configuration in plan.configurations(workload):
            name = str(configuration.name)
            row: Row = {
                "workload": workload,
                "representation": representation.name,
                "method": representation.method,
                "configuration": name,
                "baseline": plan.baseline(workload),
            }
            row |= _report_columns(results, place / "reports" / f"{name}.parquet")
            if name in compared:
                row |= _comparison_columns(results, place / "comparisons" / compared[name])
            yield row


def _report_columns(results: Path, place: Path) -> Row:
    header = read_artifact(results / place, REPORT).header
    metrics = header.metrics
    return {
        "model": f"{header.simulation_model.name} {header.simulation_model.version}",
        "samples": metrics.count,
        **{name: getattr(metrics, name) for name in ("median_us", "p95_us", "p99_us", "max_us", "mean_us")},
        "hidden_pct": metrics.communication_hidden_pct,
        "queue_wait_p99_us": header.queue_wait.p99_us,
        "makespan_us": None if header.schedule is None else header.schedule.makespan_us,
        "report": place.as_posix(),
    }


def _comparison_columns(results: Path, place: Path) -> Row:
    comparison = read_artifact(results / place, COMPARISON).header
    return {
        "verdict": comparison.verdict,
        "median_delta_pct": _delta_pct(comparison, "median_us"),
        "p99_delta_pct": _delta_pct(comparison, "p99_us"),
        "makespan_delta_pct": _makespan_delta_pct(comparison),
        "first_reason": comparison.reasons[0] if comparison.reasons else None,
        "comparison": place.as_posix(),
    }


def _delta_pct(comparison: Comparison, metric: str) -> float | None:
    before = getattr(comparison.baseline.metrics, metric)
    after = getattr(comparison.candidate.metrics, metric)
    return 100 * (after - before) / before if before else None


def _makespan_delta_pct(comparison: Comparison) -> float | None:
    found = next((e for e in comparison.evaluations if e.metric == MAKESPAN), None)
    return None if found is None or not found.baseline else 100 * (found.absolute_delta or 0.0) / found.baseline


def _representations(plan: Plan, results: Path) -> Iterator[Row]:
    trace_bytes = {name: exchange_size(read_trace(results / name / "trace.parquet")) for name in plan.workloads}
    for workload, representation, place in _places(plan):
        verification = read_artifact(results / place / "behavior.json", BEHAVIOR).header
        decided = read_artifact(results / place / "decisions.json", DECISIONS).header
        worst = worst_error_pct(verification)
        outcome = read_artifact(results / place / "policy.json", POLICY_OUTCOME).header
        canary = read_canary(results / place / "canary.parquet")
        compiler = canary.header.compiler
        trace = results / workload / "trace.parquet"
        yield {
            "workload": workload,
            "representation": representation.name,
            "method": representation.method,
            "source_events": verification.source_events,
            "replayed_events": verification.canary_events,
            "canary_events": compiler.canary_events,
            "timing_mode": compiler.timing_mode,
            "trace_json_bytes": trace_bytes[workload],
            "canary_json_bytes": compiler.canary_bytes,
            "trace_parquet_bytes": trace.stat().st_size,
            "canary_parquet_bytes": (results / place / "canary.parquet").stat().st_size,
            "status": verification.status,
            "expected_status": plan.workload(workload).expect.get(representation.name),
            "source_status": verification.source_verified_status,
            "coverage_status": verification.source_coverage_status,
            "behavior_status": verification.behavioral_fidelity_status,
            "ranking_status": verification.configuration_ranking_status,
            "ranking_agreement": verification.ranking.agreement,
            "kendall_tau_b": verification.ranking.kendall_tau_b,
            "worst_error_pct": worst if math.isfinite(worst) else None,
            "decisions": len(decided.decisions),
            "decision_agreement": decided.agreement,
            "false_positives": decided.false_positives,
            "false_negatives": decided.false_negatives,
            "policy_outcome": outcome.outcome,
            "policy_reason": outcome.reason_code,
            "assumptions": ", ".join(f"{field}={us:g}" for field, us in sorted(verification.assumptions.items())),
            "first_failure": _first_failure(verification),
            "canary": (place / "canary.parquet").as_posix(),
            "behavior": (place / "behavior.json").as_posix(),
            "policy": (place / "policy.json").as_posix(),
        }


def _first_failure(verification: BehaviorVerification) -> str | None:
    """What says most: a wrong behaviour or ranking before another source, that before an assumption.

    Every control has another source; how it behaves is what tells controls apart.
    """
    reasons = (*verification.reasons, *verification.blocked_by)
    telling = [reason for reason in reasons if not reason.startswith(("source:", "coverage:"))]
    return next(iter((*telling, *reasons)), None)


def _exports(plan: Plan, results: Path) -> Iterator[Row]:
    for workload, representation, place in _places(plan):
        if representation.method != "canary":
            continue
        account = read_artifact(results / place / "param.account.json", PARAM_ACCOUNT).header
        yield {
            "workload": workload,
            "representation": representation.name,
            "events": account.events,
            "exported": sum(account.exported.values()),
            "skipped": sum(row.events for row in account.skipped),
            "skipped_why": "; ".join(f"{row.events} {row.op}: {row.reason}" for row in account.skipped),
            "breaking_consumers": "; ".join(_breaking(account)),
            "param": (place / "param.json").as_posix(),
            "account": (place / "param.account.json").as_posix(),
        }


def _breaking(account: ParamAccount) -> Iterator[str]:
    """Consumers that replay fewer entries than the export has."""
    for consumer in account.consumers:
        if consumer.replays < consumer.entries:
            yield f"{consumer.consumer} ({consumer.commit}): {consumer.replays} of {consumer.entries} entries"


def _ablations(plan: Plan, results: Path) -> Iterator[Row]:
    for workload in plan.workloads if plan.config.ablation_costs else ():
        place = Path(workload) / "ablations.json"
        for cost in read_artifact(results / place, ABLATION_COSTS).header.costs:
            yield {
                "workload": workload,
                "ablation": cost.ablation,
                "ranking_agreement": cost.ranking_agreement,
                "kendall_tau_b": cost.kendall_tau_b,
                **{f"{name.removesuffix('_us')}_error_pct": error for name, error in cost.errors_pct.items()},
                "hidden_error_points": cost.hidden_error_points,
                "failed_checks": cost.failed_checks,
                "costs": place.as_posix(),
            }


def _null_calibrations(plan: Plan, results: Path) -> Iterator[Row]:
    for workload, representation in plan.calibrated():
        place = Path(workload) / representation / "null_calibration.json"
        found = read_artifact(results / place, NULL_CALIBRATION).header
        for rates in found.gates:
            yield {
                "workload": workload,
                "representation": representation,
                "gate": rates.gate,
                "configuration": found.configuration.name,
                "events": found.events,
                "seeds": found.settings.seeds,
                "trials": found.settings.trials,
                "false_alarms": rates.false_alarms.hits,
                "false_alarm_share": rates.false_alarms.share,
                "false_alarm_low": rates.false_alarms.interval[0],
                "false_alarm_high": rates.false_alarms.interval[1],
                "declared_alpha": round(1 - found.settings.level, 9),
                "slower_tail_pct": found.settings.slower_pct,
                "caught": rates.caught.hits,
                "caught_share": rates.caught.share,
                "caught_low": rates.caught.interval[0],
                "caught_high": rates.caught.interval[1],
                "outcome": rates.outcome,
                "expected_outcome": plan.workload(workload).expect_gate if rates.gate == "confidence" else None,
                "calibration": place.as_posix(),
            }
