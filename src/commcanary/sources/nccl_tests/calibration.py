"""An nccl-tests run -> a configuration of the replay models, with the fit behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from commcanary.artifacts.document import document_kind
from commcanary.artifacts.stored import SourceFile
from commcanary.errors import InputRefusal, UnknownValueRefusal, UsageError
from commcanary.replay.calibrated import calibrated_configuration
from commcanary.replay.configuration import Configuration
from commcanary.sources.nccl_tests.reading import FACTOR_SLACK, bus_factor, seen_bus_factor
from commcanary.sources.nccl_tests.table import OPERATION_OF_PROGRAM
from commcanary.timeline.alpha_beta import AlphaBetaFit, fit_alpha_beta

if TYPE_CHECKING:
    from commcanary.sources.nccl_tests.table import NcclTestsTable, Place

CALIBRATION_FORMAT = "commcanary.calibration.v1"

ASSUMPTIONS = (
    "time of the collective alone, without compute beside it and with all ranks ready at once: "
    "startup + bytes / bandwidth",
    "of repeated sizes the fastest counts",
    "the run's ranks, data type and topology are those of the job that is replayed",
)


@dataclass(frozen=True)
class CalibrationSettings:
    """``operation`` serves tables that do not say theirs. Sizes outside ``min_bytes`` to ``max_bytes`` are left out.

    Raises ``UsageError`` for an operation that no program of nccl-tests measures.
    """

    operation: str | None = None
    side: Place = "out_of_place"
    min_bytes: int = 0
    max_bytes: int | None = None
    level: float = 0.95

    def __post_init__(self) -> None:
        known = sorted(set(OPERATION_OF_PROGRAM.values()))
        if self.operation is not None and self.operation not in known:
            raise UsageError(f"--operation {self.operation}: known are {', '.join(known)}")


class SkippedRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A corrupted row that was left out on request."""

    place: str
    reason: str


class CalibratedTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One table: what it measured, the fit, and the configuration made of it.

    ``complete`` is false where the footer is missing: the run was cut short.
    """

    name: str
    operation: str
    operation_from: str
    ranks: int
    version: str | None
    side: str
    complete: bool
    rows: int
    rows_used: int
    skipped: tuple[SkippedRow, ...]
    fit: AlphaBetaFit
    configuration: Configuration


class Calibration(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="format", tag=CALIBRATION_FORMAT
):
    """The tables of one calibration in the order given, and what the numbers presume."""

    tables: tuple[CalibratedTable, ...]
    assumptions: tuple[str, ...] = ASSUMPTIONS
    source_files: tuple[SourceFile, ...] = ()


CALIBRATION = document_kind("calibration", CALIBRATION_FORMAT, Calibration)


def measured_points(table: NcclTestsTable, settings: CalibrationSettings) -> list[tuple[int, float]]:
    """(bytes, us) of the rows that the fit uses: the chosen side, sizes within the limits."""
    top = settings.max_bytes
    points = [
        (row.bytes, timing.time_us)
        for row in table.rows
        if row.bytes >= settings.min_bytes
        and (top is None or row.bytes <= top)
        and (timing := row.timing(settings.side)) is not None
    ]
    if not points:
        raise InputRefusal(
            "rows",
            f"none of {len(table.rows)} rows is measured {settings.side.replace('_', ' ')} within the sizes asked for",
            "choose the other --place, or other sizes",
        )
    return points


def calibrated(name: str, table: NcclTestsTable, settings: CalibrationSettings) -> CalibratedTable:
    """The configuration called ``name`` that ``table`` supports.

    Raises ``UnknownValueRefusal`` where neither the table nor the settings say the operation, or the table
    not its ranks, and ``InputRefusal`` where no law can be fitted.
    """
    if table.ranks is None:
        raise UnknownValueRefusal(
            "heading", "lists no devices, so the number of ranks is unknown", "give the whole log"
        )
    operation, origin = _operation(table, table.ranks, settings.operation)
    points = measured_points(table, settings)
    fit = fit_alpha_beta([size for size, _ in points], [time for _, time in points], settings.level)
    label = f"calibrated: {operation} on {table.ranks} ranks"
    configuration = calibrated_configuration(
        name, label, fit.law.startup_us, fit.law.bandwidth_gb_s, operation, table.ranks
    )
    return CalibratedTable(
        name,
        operation,
        origin,
        table.ranks,
        table.version,
        settings.side,
        table.complete,
        len(table.rows),
        len(points),
        tuple(SkippedRow(row.place, row.reason) for row in table.skipped),
        fit,
        configuration,
    )


def _operation(table: NcclTestsTable, ranks: int, given: str | None) -> tuple[str, str]:
    operation = given if table.operation is None else table.operation
    if operation is None:
        raise UnknownValueRefusal(
            "heading",
            "does not name the program, and several operations have rows like these",
            "say which with --operation, for example all_gather",
        )
    seen, expected = seen_bus_factor(table), bus_factor(operation, ranks)
    if seen is not None and abs(seen - expected) > FACTOR_SLACK:
        raise InputRefusal(
            "rows",
            f"busbw / algbw is {seen:.3f}; {operation} on {ranks} ranks has {expected:.3f}",
            "give the operation that the log measured",
        )
    return operation, "option" if table.operation is None else "table"
