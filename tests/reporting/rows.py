"""Rows of the summary tables, made by hand: a small campaign in which the isolated collective is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from commcanary.campaign.tables import ABLATIONS, CELLS, EXPORTS, NULL_CALIBRATIONS, REPRESENTATIONS
from commcanary.reporting.tables import CellRow, RepresentationRow

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Row = dict[str, object]
FAST, FRIENDLY = "isolated-fast-no-overlap", "workload-overlap-friendly"


def cell_row(workload: str, representation: str, configuration: str, median_us: float, **changes: object) -> Row:
    row: Row = {
        "workload": workload,
        "representation": representation,
        "method": representation,
        "configuration": configuration,
        "baseline": "baseline",
        "model": "scheduler-v4 4",
        "samples": 100,
        "median_us": median_us,
        "p95_us": median_us * 2,
        "p99_us": median_us * 3,
        "max_us": median_us * 4,
        "mean_us": median_us * 1.1,
        "hidden_pct": 12.5,
        "queue_wait_p99_us": 3.25,
        "makespan_us": None,
        "verdict": None,
        "median_delta_pct": None,
        "p99_delta_pct": None,
        "first_reason": None,
        "report": f"{workload}/{representation}/reports/{configuration}.parquet",
        "comparison": None,
    }
    return row | changes


def compared_row(
    workload: str, representation: str, configuration: str, median_us: float, verdict: str, change_pct: float | None
) -> Row:
    return cell_row(
        workload,
        representation,
        configuration,
        median_us,
        verdict=verdict,
        median_delta_pct=change_pct,
        p99_delta_pct=change_pct,
        first_reason=None if verdict == "pass" else f"p99 regression {change_pct}% exceeds 15.0%",
        comparison=f"{workload}/{representation}/comparisons/{configuration}.json",
    )


def inversion_rows(workload: str = "ranking-inversion") -> list[Row]:
    """Alone, FAST wins (12.834 against 13.834); in the workload FRIENDLY does (127.042 against 127.284)."""
    rows = []
    for representation, fast, friendly in (("canary", 127.284, 127.042), ("isolated", 12.834, 13.834)):
        change = 100 * (friendly - fast) / fast
        rows.append(cell_row(workload, representation, FAST, fast))
        rows.append(compared_row(workload, representation, FRIENDLY, friendly, "pass", change))
    return [row | {"baseline": FAST} for row in rows]


def representation_row(workload: str, representation: str, status: str | None, **changes: object) -> Row:
    fine = status == "behaviorally_verified"
    row: Row = {
        "workload": workload,
        "representation": representation,
        "method": representation,
        "source_events": 100,
        "replayed_events": 100,
        "canary_events": 4,
        "timing_mode": "lossless_timing",
        "trace_json_bytes": 3608,
        "canary_json_bytes": 1412,
        "trace_parquet_bytes": 4000,
        "canary_parquet_bytes": 4520,
        "status": status,
        "expected_status": None,
        "source_status": "source_verified" if fine else "failed",
        "coverage_status": "full_source" if fine else "not_covered",
        "behavior_status": "pass" if fine else "fail",
        "ranking_status": "pass" if fine else "fail",
        "ranking_agreement": 1.0 if fine else 0.975,
        "kendall_tau_b": 1.0 if fine else 0.95,
        "worst_error_pct": 0.0 if fine else 1234.5,
        "decisions": 1,
        "decision_agreement": 1.0 if fine else 0.0,
        "false_positives": 0 if fine else 1,
        "false_negatives": 0,
        "policy_outcome": "pass" if fine else "fail",
        "policy_reason": "criteria_met" if fine else "false_positives",
        "assumptions": "",
        "first_failure": None if fine else "median_us is 12.616 where the source has 127.284",
        "canary": f"{workload}/{representation}/canary.parquet",
        "behavior": f"{workload}/{representation}/behavior.json",
        "policy": f"{workload}/{representation}/policy.json",
    }
    return row | changes


def export_row(workload: str, **changes: object) -> Row:
    row: Row = {
        "workload": workload,
        "representation": "canary",
        "events": 100,
        "exported": 97,
        "skipped": 3,
        "skipped_why": "3 barrier: no size",
        "breaking_consumers": "comms_trace_replay (8b87afd): 90 of 97 entries",
        "param": f"{workload}/canary/param.json",
        "account": f"{workload}/canary/param.account.json",
    }
    return row | changes


def cells(rows: Iterable[Row]) -> tuple[CellRow, ...]:
    return tuple(CellRow(**row) for row in rows)  # type: ignore[arg-type]


def representations(rows: Iterable[Row]) -> tuple[RepresentationRow, ...]:
    return tuple(RepresentationRow(**row) for row in rows)  # type: ignore[arg-type]


def ablation_row(workload: str, ablation: str, **changes: object) -> Row:
    errors = {f"{name}_error_pct": 12.25 for name in ("median", "p95", "p99", "max", "mean")}
    row: Row = {
        "workload": workload,
        "ablation": ablation,
        "ranking_agreement": 0.75,
        "kendall_tau_b": 0.5,
        **errors,
        "hidden_error_points": 3.5,
        "failed_checks": 17,
        "costs": f"{workload}/ablations.json",
    }
    return row | changes


def calibration_row(workload: str, gate: str, **changes: object) -> Row:
    row: Row = {
        "workload": workload,
        "representation": "canary",
        "gate": gate,
        "configuration": "baseline",
        "events": 66,
        "seeds": 20,
        "trials": 60,
        "false_alarms": 40,
        "false_alarm_share": 0.666667,
        "false_alarm_low": 0.540592,
        "false_alarm_high": 0.772729,
        "declared_alpha": 0.05,
        "slower_tail_pct": 20.0,
        "caught": 60,
        "caught_share": 1.0,
        "caught_low": 0.939828,
        "caught_high": 1.0,
        "outcome": "not_trusted",
        "expected_outcome": None,
        "calibration": f"{workload}/canary/null_calibration.json",
    }
    return row | changes


def write_tables(
    folder: Path,
    cell_rows: list[Row],
    representation_rows: list[Row],
    export_rows: list[Row],
    ablation_rows: Iterable[Row] = (),
    calibration_rows: Iterable[Row] = (),
) -> Path:
    """The summary tables in ``folder/tables``, which is returned."""
    tables = folder / "tables"
    tables.mkdir(parents=True, exist_ok=True)
    for name, rows, schema in (
        ("cells", cell_rows, CELLS),
        ("representations", representation_rows, REPRESENTATIONS),
        ("exports", export_rows, EXPORTS),
        ("ablations", list(ablation_rows), ABLATIONS),
        ("null_calibrations", list(calibration_rows), NULL_CALIBRATIONS),
    ):
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), tables / f"{name}.parquet")
    return tables
