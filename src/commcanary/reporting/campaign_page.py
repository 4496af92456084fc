"""The campaign's page: one HTML file that says what was run, what regressed and what can be trusted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from commcanary.artifacts.files import read_artifact, read_bytes
from commcanary.campaign.layout import FIGURES
from commcanary.campaign.manifest import MANIFEST, plan_of
from commcanary.judge.reconciliation import RECONCILIATION
from commcanary.reporting.drawings.growth import FEWEST_LENGTHS, crossovers
from commcanary.reporting.expected import expected
from commcanary.reporting.models_compared import models_compared
from commcanary.reporting.pages import write_page
from commcanary.reporting.ran import configuration_table, workload_rows
from commcanary.reporting.regressed import regressed_workloads
from commcanary.reporting.svgfile import inline_svg
from commcanary.reporting.tables import (
    read_ablations,
    read_cells,
    read_exports,
    read_null_calibrations,
    read_representations,
)
from commcanary.reporting.trusted import headline, trusted_workloads

if TYPE_CHECKING:
    from commcanary.campaign.manifest import Manifest


def write_campaign_page(campaign_folder: Path, output: Path) -> None:
    """Write the page of the campaign in ``campaign_folder`` to ``output``, which its links start from.

    Reads ``manifest.json``, ``tables/*.parquet`` and ``figures/*.svg``: the same results give the same bytes.
    Raises ``InputRefusal`` or ``StorageRefusal`` for one that is missing or not what it should be.
    """
    folder = Path(campaign_folder)
    manifest = read_artifact(folder / "manifest.json", MANIFEST).header
    plan = plan_of(manifest, folder)
    cells = read_cells(folder / "tables" / "cells.parquet")
    representations = read_representations(folder / "tables" / "representations.parquet")
    calibrations = read_null_calibrations(folder / "tables" / "null_calibrations.parquet")
    write_page(
        output,
        "campaign.html.jinja",
        title=plan.config.title or plan.name,
        manifest=manifest,
        config=plan.config,
        digests=_digests(manifest),
        headline=headline(cells, representations),
        expected=expected(representations, calibrations),
        workloads=workload_rows(plan, representations),
        configurations=configuration_table(plan),
        regressed=regressed_workloads(plan.workloads, cells),
        trusted=trusted_workloads(representations),
        models_compared=models_compared(plan, cells, representations),
        representations=representations,
        ablations=read_ablations(folder / "tables" / "ablations.parquet"),
        calibrations=calibrations,
        exports=read_exports(folder / "tables" / "exports.parquet"),
        reconciliations={
            name: read_artifact(folder / "reconcile" / f"{name}.json", RECONCILIATION).header
            for name in plan.reconciliations
        },
        fewest_lengths=FEWEST_LENGTHS,
        crossovers=crossovers(representations),
        figures={name: _figure(folder / "figures" / f"{name}.svg") for name in FIGURES},
    )


def _figure(path: Path) -> Markup:
    return Markup(inline_svg(read_bytes(path), str(path)))


def _digests(manifest: Manifest) -> tuple[tuple[str, str | None], ...]:
    lock = None if manifest.environment is None else manifest.environment.lock_sha256
    return (("code", manifest.code.src), ("workflow", manifest.code.workflow), ("dependency lock", lock))
