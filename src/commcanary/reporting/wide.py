"""The cells as one wide table for spreadsheets: a row per workload and representation, columns per configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa

from commcanary.artifacts.atomic import write_text
from commcanary.artifacts.plain_table import read_plain_table
from commcanary.campaign.tables import CELLS
from commcanary.errors import InputRefusal

if TYPE_CHECKING:
    from pathlib import Path

_KEY = ("workload", "representation", "configuration")
STATISTICS = ("median_us", "p99_us", "verdict")


def write_wide_table(cells: Path, output: Path) -> None:
    """Pivot ``tables/cells.parquet`` into a CSV with columns ``CONFIGURATION STATISTIC``, in the campaign's order."""
    schema = pa.schema([CELLS.field(name) for name in (*_KEY, *STATISTICS)])
    table = read_plain_table(cells, schema, "run the campaign again").to_pandas()
    if table.duplicated(list(_KEY)).any():
        raise InputRefusal("rows", "name one cell twice", "run the campaign again", file=str(cells))
    order = list(dict.fromkeys(table["configuration"]))
    rows = list(dict.fromkeys(zip(table["workload"], table["representation"], strict=True)))
    wide = table.pivot(index=["workload", "representation"], columns="configuration", values=list(STATISTICS))
    wide = wide.reindex(index=pd.MultiIndex.from_tuples(rows, names=["workload", "representation"]))
    columns = [(statistic, name) for name in order for statistic in STATISTICS]
    wide = wide[columns]
    wide.columns = pd.Index([f"{name} {statistic}" for statistic, name in columns])
    write_text(output, wide.reset_index().to_csv(index=False, lineterminator="\n"))
