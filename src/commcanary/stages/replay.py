"""Stage: canary x configurations -> reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from commcanary.artifacts.document import document_kind
from commcanary.artifacts.files import check_suffix, write_artifact
from commcanary.artifacts.jsontext import convert
from commcanary.artifacts.stored import Stored
from commcanary.campaign.receipts import REPLAY, cell_id, cell_settings, held_receipt, write_receipt
from commcanary.replay.configuration import Configuration, Protocol
from commcanary.replay.report import REPORT, Replayer, without_samples
from commcanary.stages.reading import naming, read_canary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from commcanary.replay.report import ReportHeader

CELLS_FORMAT = "commcanary.cells.v1"


class CellEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One report of a batch: its configuration, file name and content id."""

    configuration: str
    report: str
    content_id: str


class CellIndex(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="format", tag=CELLS_FORMAT):
    """The reports of one replay batch, in the order of its configurations."""

    canary: str
    cells: tuple[CellEntry, ...]


CELLS = document_kind("cell index", CELLS_FORMAT, CellIndex)


def replay_stage(
    canary_path: Path,
    output: Path,
    configuration: Configuration,
    protocol: Protocol,
    *,
    model: str,
    assumptions: Mapping[str, float],
    include_samples: bool,
) -> Stored[ReportHeader]:
    """Replay one canary under one configuration and write the report.

    A Parquet report always holds its samples, a JSON report where ``include_samples`` says so.
    """
    suffix = check_suffix(output)
    canary = read_canary(canary_path)
    with naming(canary_path):
        report = Replayer(canary, model, protocol.ablations, assumptions).report(configuration, protocol)
    kept = report if include_samples or suffix == ".parquet" else without_samples(report)
    write_artifact(output, REPORT, kept)
    return report


def replay_batch_stage(
    canary_path: Path,
    index_path: Path,
    configurations: Sequence[Mapping[str, Any]],
    protocol: Mapping[str, Any],
    *,
    model: str,
    assumptions: Mapping[str, float],
    code: str,
    attempt: int = 1,
) -> CellIndex:
    """Replay one canary under each configuration: one report and one receipt a cell, then their index.

    Configurations and protocol come as plain data. Reports are ``NAME.parquet`` beside the index; a cell
    whose receipt still holds is not replayed, and each is written as it is done, so that a kill loses the
    cell at work only. ``attempt`` is the job's, for the receipts of the cells that it makes.
    """
    drawn = convert(protocol, Protocol)
    canary = read_canary(canary_path)
    replayer: Replayer | None = None
    entries = []
    for configuration in convert(configurations, list[Configuration]):
        settings = cell_settings(configuration, drawn, model, assumptions)
        inputs = {"canary": canary.content_id}
        path = index_path.with_name(f"{configuration.name}.parquet")
        receipt = held_receipt(path, cell_id(REPLAY, inputs, settings, code))
        if receipt is None:
            if replayer is None:
                with naming(canary_path):
                    replayer = Replayer(canary, model, drawn.ablations, assumptions)
            report = replayer.report(configuration, drawn)
            write_artifact(path, REPORT, report)
            receipt = write_receipt(
                path, report.content_id, stage=REPLAY, inputs=inputs, settings=settings, code=code, attempt=attempt
            )
        entries.append(CellEntry(str(configuration.name), path.name, receipt.output_content_id))
    index = CellIndex(canary.content_id, tuple(entries))
    write_artifact(index_path, CELLS, Stored(index))
    return index
