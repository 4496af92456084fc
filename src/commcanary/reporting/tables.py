"""The rows of the summary tables, typed: what figures and pages are made from; other columns are not read."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import msgspec
import pyarrow as pa

from commcanary.artifacts.plain_table import read_plain_table
from commcanary.campaign.tables import ABLATIONS, CELLS, EXPORTS, NULL_CALIBRATIONS, REPRESENTATIONS
from commcanary.errors import InputRefusal
from commcanary.judge.checks import PASS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

CANARY = "canary"
CANARIES = (CANARY, "searched")
"""Methods that make a canary of the source; all others make controls."""

ISOLATED = "isolated"
_REMEDY = "run the campaign again: its summary stage writes the tables"


class CellRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of ``tables/cells.parquet`` (``campaign.tables.CELLS``); latencies in us."""

    workload: str
    representation: str
    method: str
    configuration: str
    baseline: str
    model: str
    samples: int
    median_us: float
    p95_us: float
    p99_us: float
    max_us: float
    mean_us: float
    hidden_pct: float | None
    queue_wait_p99_us: float | None
    makespan_us: float | None
    verdict: str | None
    median_delta_pct: float | None
    p99_delta_pct: float | None
    first_reason: str | None
    report: str | None
    comparison: str | None

    @property
    def is_baseline(self) -> bool:
        """Whether the others of its workload are compared against this cell."""
        return self.configuration == self.baseline


class RepresentationRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of ``tables/representations.parquet`` (``campaign.tables.REPRESENTATIONS``); sizes in bytes."""

    workload: str
    representation: str
    method: str
    source_events: int
    replayed_events: int
    canary_events: int
    timing_mode: str | None
    trace_json_bytes: int | None
    canary_json_bytes: int | None
    trace_parquet_bytes: int | None
    canary_parquet_bytes: int | None
    status: str | None
    expected_status: str | None
    source_status: str | None
    coverage_status: str | None
    behavior_status: str | None
    ranking_status: str | None
    ranking_agreement: float | None
    kendall_tau_b: float | None
    worst_error_pct: float | None
    decisions: int | None
    decision_agreement: float | None
    false_positives: int | None
    false_negatives: int | None
    policy_outcome: str | None
    policy_reason: str | None
    assumptions: str | None
    first_failure: str | None
    canary: str | None
    behavior: str | None
    policy: str | None

    @property
    def is_unexpected(self) -> bool:
        """Whether its status differs from a stated expectation."""
        return bool(self.expected_status) and self.status != self.expected_status

    @property
    def behaves_alike(self) -> bool:
        """Whether it passed as far as behaviour and ranking go, whatever its source verification says."""
        return self.behavior_status == PASS and self.ranking_status == PASS


class ExportRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of ``tables/exports.parquet`` (``campaign.tables.EXPORTS``)."""

    workload: str
    representation: str
    events: int
    exported: int
    skipped: int
    skipped_why: str | None
    breaking_consumers: str | None
    param: str | None
    account: str | None


class AblationRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of ``tables/ablations.parquet`` (``campaign.tables.ABLATIONS``)."""

    workload: str
    ablation: str
    ranking_agreement: float | None
    kendall_tau_b: float | None
    median_error_pct: float | None
    p95_error_pct: float | None
    p99_error_pct: float | None
    max_error_pct: float | None
    hidden_error_points: float
    failed_checks: int
    costs: str | None


class NullCalibrationRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of ``tables/null_calibrations.parquet`` (``campaign.tables.NULL_CALIBRATIONS``)."""

    workload: str
    representation: str
    gate: str
    events: int
    seeds: int
    trials: int
    false_alarms: int
    false_alarm_low: float
    false_alarm_high: float
    declared_alpha: float
    slower_tail_pct: float
    caught: int
    outcome: str
    expected_outcome: str | None
    calibration: str | None

    @property
    def is_unexpected(self) -> bool:
        """Whether its outcome differs from a stated expectation."""
        return bool(self.expected_outcome) and self.outcome != self.expected_outcome


@dataclass(frozen=True)
class CellGroup:
    """The cells of one representation of one workload, in the order of the configurations."""

    workload: str
    representation: str
    title: str
    cells: tuple[CellRow, ...]

    @property
    def baseline(self) -> CellRow | None:
        """The cell that the others are compared against."""
        return next((cell for cell in self.cells if cell.is_baseline), None)


def read_cells(path: Path) -> tuple[CellRow, ...]:
    """The rows of the cell table. Raises ``InputRefusal`` for another schema, ``StorageRefusal`` if unreadable."""
    return _read(path, CELLS, CellRow)


def read_representations(path: Path) -> tuple[RepresentationRow, ...]:
    """The rows of the representation table; raises as ``read_cells`` does."""
    return _read(path, REPRESENTATIONS, RepresentationRow)


def read_exports(path: Path) -> tuple[ExportRow, ...]:
    """The rows of the export table; raises as ``read_cells`` does."""
    return _read(path, EXPORTS, ExportRow)


def read_ablations(path: Path) -> tuple[AblationRow, ...]:
    """The rows of the ablation table; raises as ``read_cells`` does."""
    return _read(path, ABLATIONS, AblationRow)


def read_null_calibrations(path: Path) -> tuple[NullCalibrationRow, ...]:
    """The rows of the null calibrations; raises as ``read_cells`` does."""
    return _read(path, NULL_CALIBRATIONS, NullCalibrationRow)


def groups_of(cells: Iterable[CellRow], method: str) -> tuple[CellGroup, ...]:
    """The cells made by ``method``, grouped; a title names the representation where a workload has several."""
    found: dict[tuple[str, str], list[CellRow]] = {}
    for cell in cells:
        if cell.method == method:
            found.setdefault((cell.workload, cell.representation), []).append(cell)
    per_workload = Counter(workload for workload, _ in found)
    return tuple(
        CellGroup(
            workload,
            representation,
            workload if per_workload[workload] == 1 else f"{workload}, {representation}",
            tuple(rows),
        )
        for (workload, representation), rows in found.items()
    )


def change_pct(baseline: float, candidate: float) -> float | None:
    """100 (candidate - baseline) / baseline, null where the baseline is 0 and no percentage exists."""
    return 100 * (candidate - baseline) / baseline if baseline else None


R = TypeVar("R", bound=msgspec.Struct)


def _read(path: Path, schema: pa.Schema, row: type[R]) -> tuple[R, ...]:
    names = list(row.__struct_fields__)
    table = read_plain_table(path, pa.schema([schema.field(name) for name in names]), _REMEDY)
    try:
        return msgspec.convert(tuple(table.to_pylist()), tuple[row, ...])  # type: ignore[valid-type]
    except msgspec.ValidationError as error:
        raise InputRefusal("row", str(error), _REMEDY, file=str(path)) from error
