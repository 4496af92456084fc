"""Stage: summary table -> did every representation end in the status that the campaign declared for it?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pyarrow.parquet as pq

from commcanary.artifacts.document import document_kind
from commcanary.artifacts.files import write_artifact
from commcanary.artifacts.stored import Stored
from commcanary.errors import IntegrityRefusal

if TYPE_CHECKING:
    from pathlib import Path

EXPECTATIONS_FORMAT = "commcanary.expectations.v1"


class Expectation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One declared status that came out."""

    workload: str
    representation: str
    status: str


class Expectations(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="format", tag=EXPECTATIONS_FORMAT
):
    """Every declared status; the document exists only where all came out."""

    met: tuple[Expectation, ...]


EXPECTATIONS = document_kind("expectations", EXPECTATIONS_FORMAT, Expectations)


def expectations_stage(representations: Path, output: Path) -> Expectations:
    """Write the declared statuses; raises ``IntegrityRefusal`` for the first that came out otherwise."""
    met = []
    for row in pq.read_table(representations).to_pylist():
        if row["expected_status"] is None:
            continue
        place = f"{row['workload']} as {row['representation']}"
        if row["status"] != row["expected_status"]:
            raise IntegrityRefusal(
                place,
                f"ended {row['status']} where the campaign expects {row['expected_status']} ({row['first_failure']})",
                "see the page, then correct the workload or the expectation",
                file=str(representations),
            )
        met.append(Expectation(row["workload"], row["representation"], row["status"]))
    expectations = Expectations(tuple(met))
    write_artifact(output, EXPECTATIONS, Stored(expectations))
    return expectations
