"""Outcomes that a campaign declared are counted over representations and gates; what came out otherwise is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from commcanary.reporting.expected import Expected, expected
from commcanary.reporting.tables import read_null_calibrations, read_representations

from .rows import calibration_row, representation_row, write_tables

MET = {"status": "failed", "expected_status": "failed"}
UNMET = {"status": "failed", "expected_status": "behaviorally_verified"}
SILENT = {"status": "failed", "expected_status": None}
TRUSTED = {"outcome": "trusted", "expected_outcome": "trusted"}
DOUBTED = {"outcome": "not_trusted", "expected_outcome": "trusted"}


@pytest.mark.parametrize(
    ("statuses", "gates", "found"),
    [
        ([], [], Expected(0, ())),
        ([SILENT], [{}], Expected(0, ())),
        ([MET, SILENT], [TRUSTED, {}], Expected(2, ())),
        ([UNMET, MET], [], Expected(2, ("w0 as canary",))),
        ([MET, UNMET], [DOUBTED, TRUSTED], Expected(4, ("w1 as canary", "gate of w0 as canary"))),
    ],
)
def test_counted(statuses: list[Any], gates: list[Any], found: Expected, tmp_path: Path) -> None:
    rows = [representation_row(f"w{n}", "canary", **row) for n, row in enumerate(statuses)]
    calibrations = [calibration_row(f"w{n}", "plain", **row) for n, row in enumerate(gates)]
    tables = write_tables(tmp_path, [], rows, [], calibration_rows=calibrations)
    representations = read_representations(tables / "representations.parquet")
    assert expected(representations, read_null_calibrations(tables / "null_calibrations.parquet")) == found
