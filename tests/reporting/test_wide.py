"""The wide table says what the cells say, in their order."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from commcanary.campaign.tables import CELLS
from commcanary.reporting.wide import write_wide_table


def test_each_cell_stands_under_its_configuration(tmp_path: Path) -> None:
    rows = [
        {"workload": w, "representation": "canary", "configuration": c, "median_us": m, "p99_us": m + 1, "verdict": v}
        for w, c, m, v in (("z", "base", 1.5, None), ("z", "a", 2.5, "fail"), ("b", "base", 3.5, None))
    ]
    pq.write_table(pa.Table.from_pylist(rows, schema=CELLS), tmp_path / "cells.parquet")
    write_wide_table(tmp_path / "cells.parquet", tmp_path / "wide.csv")
    assert (tmp_path / "wide.csv").read_text().splitlines() == [
        "workload,representation,base median_us,base p99_us,base verdict,a median_us,a p99_us,a verdict",
        "z,canary,1.5,2.5,,2.5,3.5,fail",
        "b,canary,3.5,4.5,,,,",
    ]
