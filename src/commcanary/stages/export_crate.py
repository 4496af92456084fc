"""Stage: sealed campaign -> Workflow Run RO-Crate, one zip file with everything in it."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

from commcanary.artifacts.atomic import write_atomically
from commcanary.artifacts.canonical import canonical_json
from commcanary.artifacts.files import read_artifact, read_bytes
from commcanary.campaign.crate import METADATA, WORKFLOW, Run, crate_document
from commcanary.campaign.engine import repository_root
from commcanary.campaign.layout import SEAL, SUMS, report_file
from commcanary.campaign.manifest import MANIFEST, plan_of
from commcanary.campaign.receipts import file_sha256, read_receipt
from commcanary.campaign.seal import SEALS
from commcanary.errors import IntegrityRefusal, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import BinaryIO

    from commcanary.campaign.manifest import Manifest


def export_crate_stage(results: Path, output: Path, license_url: str) -> int:
    """Write the sealed campaign in ``results`` as a crate to ``output``, a ``.zip``; the number of files in it.

    Raises ``IntegrityRefusal`` for a file that is not the sealed one.
    """
    if output.suffix != ".zip":
        raise UsageError(f"{output}: a crate is one file; the name must end in .zip")
    seal = read_artifact(results / SEAL, SEALS).header
    manifest = read_artifact(results / "manifest.json", MANIFEST).header
    sealed = (*seal.files, *seal.history)
    for file in sealed:
        if file_sha256(results / file.path) != file.sha256:
            raise IntegrityRefusal(
                file.path, "is not the file that was sealed", "see commcanary campaign verify", file=str(results)
            )
    workflow = _workflow()
    others = sorted(name for name in workflow if name != WORKFLOW)
    document = crate_document(manifest, seal, _run(manifest, results, license_url), others)
    files = {file.path: results / file.path for file in sealed} | {name: results / name for name in (SEAL, SUMS)}
    write_atomically(output, lambda stream: _write(stream, canonical_json(document), files | workflow))
    return len(files) + len(workflow) + 1


def _workflow() -> dict[str, Path]:
    root = repository_root()
    found = [root / WORKFLOW, *(root / "workflow").rglob("*")]
    return {path.relative_to(root).as_posix(): path for path in found if path.is_file() and path.suffix != ".pyc"}


def _run(manifest: Manifest, results: Path, license_url: str) -> Run:
    """From the first to the last receipt of a cell."""
    cells = plan_of(manifest, results).cells()
    receipts = (read_receipt(results / report_file(c.workload, c.representation, c.configuration)) for c in cells)
    times = sorted(receipt.when for receipt in receipts if receipt is not None)
    if not times:
        found = "there are none, so that nobody knows when it ran"
        raise IntegrityRefusal("receipts", found, "run the campaign here", file=str(results))
    return Run(times[0], times[-1], license_url)


def _write(stream: BinaryIO, metadata: bytes, files: Mapping[str, Path]) -> None:
    """Entries in the order of their names and without times: the same campaign gives the same bytes."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(METADATA), metadata, zipfile.ZIP_DEFLATED)
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name), read_bytes(files[name]), zipfile.ZIP_DEFLATED)
