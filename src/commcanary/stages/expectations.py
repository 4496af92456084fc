"""Stage: summary tables -> did everything end as the campaign declared?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from commcanary.artifacts.document import document_kind
from commcanary.artifacts.files import write_artifact
from commcanary.artifacts.plain_table import read_plain_table
from commcanary.artifacts.stored import Stored
from commcanary.campaign.tables import NULL_CALIBRATIONS, REPRESENTATIONS
from commcanary.errors import IntegrityRefusal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_REMEDY = "run the campaign again: its summary stage writes the tables"

EXPECTATIONS_FORMAT = "commcanary.expectations.v1"


class Expectation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One declared outcome that came out: a ``behavior`` status, or a ``gate``'s null calibration."""

    workload: str
    representation: str
    of: Literal["behavior", "gate"]
    status: str


class Expectations(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="format", tag=EXPECTATIONS_FORMAT
):
    """Every declared outcome; the document exists only where all came out."""

    met: tuple[Expectation, ...]


EXPECTATIONS = document_kind("expectations", EXPECTATIONS_FORMAT, Expectations)


def expectations_stage(representations: Path, null_calibrations: Path, output: Path) -> Expectations:
    """Write the declared outcomes; raises ``IntegrityRefusal`` that names every one that came out otherwise."""
    met, unmet = [], []
    for expected, found, why in (*_behavior(representations), *_gates(null_calibrations)):
        if found == expected.status:
            met.append(expected)
        else:
            told = f"{expected.workload} as {expected.representation} ended {found}, not {expected.status}"
            unmet.append(f"{told} ({why})" if why else told)
    if unmet:
        raise IntegrityRefusal(
            "expect",
            "; ".join(unmet),
            "see the page, then correct the workload or the expectation",
            file=str(representations),
        )
    expectations = Expectations(tuple(met))
    write_artifact(output, EXPECTATIONS, Stored(expectations))
    return expectations


def _behavior(table: Path) -> Iterator[tuple[Expectation, str, str | None]]:
    for row in read_plain_table(table, REPRESENTATIONS, _REMEDY).to_pylist():
        if row["expected_status"] is not None:
            expected = Expectation(row["workload"], row["representation"], "behavior", row["expected_status"])
            yield expected, row["status"], row["first_failure"]


def _gates(table: Path) -> Iterator[tuple[Expectation, str, str | None]]:
    for row in read_plain_table(table, NULL_CALIBRATIONS, _REMEDY).to_pylist():
        if row["expected_outcome"] is not None:
            expected = Expectation(row["workload"], row["representation"], "gate", row["expected_outcome"])
            told = (
                f"{row['false_alarms']} false alarms and {row['caught']} slower tails caught in {row['trials']} trials"
            )
            yield expected, row["outcome"], told
