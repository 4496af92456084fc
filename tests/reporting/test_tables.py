"""Reading the summary tables: the rows are what the schemas say, and a damaged table is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commcanary.campaign.tables import CELLS, EXPORTS, REPRESENTATIONS
from commcanary.errors import InputRefusal, StorageRefusal
from commcanary.reporting.tables import (
    CellRow,
    ExportRow,
    RepresentationRow,
    change_pct,
    groups_of,
    read_cells,
    read_exports,
    read_representations,
)

from .rows import Row, cell_row, cells, export_row, inversion_rows, representation_row, representations, write_tables

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("row", "schema"), [(CellRow, CELLS), (RepresentationRow, REPRESENTATIONS), (ExportRow, EXPORTS)]
)
def test_a_row_reads_columns_that_its_schema_has(row: type[msgspec.Struct], schema: pa.Schema) -> None:
    assert set(row.__struct_fields__) <= set(schema.names)


def test_rows_come_back_as_written(tmp_path: Path) -> None:
    representation = representation_row("w", "canary", None, kendall_tau_b=None)
    tables = write_tables(tmp_path, inversion_rows(), [representation], [export_row("w")])
    assert read_cells(tables / "cells.parquet") == cells(inversion_rows())
    assert read_representations(tables / "representations.parquet") == representations([representation])
    assert read_exports(tables / "exports.parquet")[0].exported == 97


def test_a_table_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageRefusal, match=r"cells\.parquet"):
        read_cells(tmp_path / "cells.parquet")


def test_a_file_that_is_no_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cells.parquet").write_bytes(b"not a table at all")
    with pytest.raises(InputRefusal, match=r"cells\.parquet: file: not a readable Parquet file"):
        read_cells(tmp_path / "cells.parquet")


@pytest.mark.parametrize(
    ("column", "place", "found"),
    [
        (None, "column median_us", "missing"),
        (pa.array([1], pa.int64()), "column median_us", "int64 where double"),
        (pa.array([None], pa.float64()), "row", "null"),
    ],
)
def test_a_damaged_column_is_named(tmp_path: Path, column: pa.Array | None, place: str, found: str) -> None:
    table = pa.Table.from_pylist([cell_row("w", "canary", "baseline", 1.0)], schema=CELLS)
    index = table.column_names.index("median_us")
    table = table.remove_column(index) if column is None else table.set_column(index, "median_us", column)
    pq.write_table(table, tmp_path / "cells.parquet")
    with pytest.raises(InputRefusal) as caught:
        read_cells(tmp_path / "cells.parquet")
    assert caught.value.place == place
    assert found in caught.value.found
    assert caught.value.file == str(tmp_path / "cells.parquet")


def test_groups_name_the_representation_only_where_a_workload_has_several() -> None:
    rows: list[Row] = [
        cell_row("a", "canary", "baseline", 1.0),
        cell_row("b", "canary", "baseline", 1.0),
        cell_row("b", "small", "baseline", 1.0, method="canary"),
        cell_row("b", "isolated", "baseline", 1.0),
        cell_row("a", "canary", "slow", 2.0),
    ]
    groups = groups_of(cells(rows), "canary")
    assert [group.title for group in groups] == ["a", "b, canary", "b, small"]
    assert [cell.configuration for cell in groups[0].cells] == ["baseline", "slow"]
    assert groups[0].baseline == cells(rows)[0]


def test_a_change_from_zero_has_no_percentage() -> None:
    assert change_pct(0.0, 5.0) is None
    assert change_pct(4.0, 5.0) == 25.0
    assert change_pct(4.0, 3.0) == -25.0


@pytest.mark.parametrize(
    ("expected", "status", "unexpected"),
    [(None, "failed", False), ("failed", "failed", False), ("failed", None, True), ("failed", "partly", True)],
)
def test_only_a_stated_expectation_can_be_missed(expected: str | None, status: str | None, unexpected: bool) -> None:
    (row,) = representations([representation_row("w", "r", status, expected_status=expected)])
    assert row.is_unexpected is unexpected
