"""Stage: campaign configuration -> manifest, the list of all that the campaign is made from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

import commcanary
from commcanary.artifacts.document import document_kind
from commcanary.artifacts.files import read_bytes, write_artifact
from commcanary.artifacts.stored import SourceFile, Stored
from commcanary.campaign.config_file import config_files
from commcanary.campaign.plan import Plan
from commcanary.campaign.provenance import source_digest
from commcanary.campaign.receipts import file_sha256
from commcanary.replay.model import model_named

MANIFEST_FORMAT = "commcanary.manifest.v1"


class ExpectedCell(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One cell that the campaign must end with."""

    workload: str
    representation: str
    configuration: str


class Manifest(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="format", tag=MANIFEST_FORMAT
):
    """Inputs, resolved configuration, cells and code of one campaign. Holds no time, host or absolute path."""

    campaign: str
    package_version: str
    source_digest: str
    lock_sha256: str | None
    model: dict[str, str]
    config: Any
    inputs: tuple[SourceFile, ...]
    cells: tuple[ExpectedCell, ...]
    expected: dict[str, dict[str, str]]


MANIFEST = document_kind("manifest", MANIFEST_FORMAT, Manifest)


def manifest_stage(config_path: Path, output: Path) -> Manifest:
    """Write the manifest of the campaign configured at ``config_path``."""
    plan = Plan.load(config_path)
    files = [*config_files(config_path), *(path for workload in plan.workloads for path in plan.source_files(workload))]
    model = model_named(plan.config.replay.model)
    lock = Path(commcanary.__file__).parents[2] / "requirements.lock"
    manifest = Manifest(
        campaign=plan.name,
        package_version=commcanary.__version__,
        source_digest=source_digest(),
        lock_sha256=file_sha256(lock) if lock.is_file() else None,
        model={"name": model.name, "version": model.version},
        config=msgspec.to_builtins(plan.config),
        inputs=tuple(SourceFile(path.name, len(read_bytes(path)), file_sha256(path)) for path in files),
        cells=tuple(ExpectedCell(cell.workload, cell.representation, cell.configuration) for cell in plan.cells()),
        expected={workload.name: workload.expect for workload in plan.config.workloads},
    )
    write_artifact(output, MANIFEST, Stored(manifest))
    return manifest
