"""Stage: sealed campaign -> Workflow Run RO-Crate, one zip file with everything in it."""

from __future__ import annotations

import hashlib
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from commcanary.artifacts.atomic import write_atomically
from commcanary.artifacts.canonical import canonical_json
from commcanary.artifacts.files import read_artifact, read_bytes
from commcanary.campaign.crate import (
    METADATA,
    README,
    WORKFLOW,
    CrateFile,
    CrateFiles,
    Party,
    Run,
    crate_document,
    results_folder,
)
from commcanary.campaign.crate_readme import crate_readme
from commcanary.campaign.engine import repository_root
from commcanary.campaign.freeze import is_history
from commcanary.campaign.layout import SEAL, SUMS, report_file, sealed_files
from commcanary.campaign.links import inside
from commcanary.campaign.manifest import MANIFEST, plan_of
from commcanary.campaign.provenance import workflow_digest
from commcanary.campaign.receipts import file_sha256, read_receipt
from commcanary.campaign.seal import SEALS
from commcanary.errors import IntegrityRefusal, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import BinaryIO

    from commcanary.campaign.manifest import Manifest
    from commcanary.campaign.plan import Plan
    from commcanary.campaign.seal import Seal

_URL = re.compile(r"https?://[^\s<>\"{}|\\^`]+")
_PARTY = re.compile(rf"([^<>]*[^<>\s])\s*<({_URL.pattern})>")

_SEALS, _TIMES = (SEAL, SUMS, f"{SUMS}.sig"), ("timings.html",)
"""What lies beside the sealed files: the seal with its signature, and the page of times, to which the report links."""

_BESIDE_THE_WORKFLOW = ("LICENSE", "environment.yml")
"""The workflow's licence, and the environment that its rules name."""


def export_crate_stage(
    results: Path, output: Path, license_url: str, author: str | None = None, organization: str | None = None
) -> int:
    """Write the sealed campaign in ``results`` as a crate to ``output``, a ``.zip``; the number of files in it.

    ``author`` ran the campaign, ``organization`` is the author's and publishes: each ``NAME <URL>``. Raises
    ``IntegrityRefusal`` for a file that is not the sealed one or lies elsewhere by a link, for a seal of other files
    than the manifest expects, and for a workflow here that is not the one that ran.
    """
    if output.suffix != ".zip":
        raise UsageError(f"{output}: a crate is one file; the name must end in .zip")
    parties = (_party("--author", author), _party("--organization", organization))
    _check_urls(license_url, *parties)
    seal = read_artifact(results / SEAL, SEALS).header
    manifest = read_artifact(results / "manifest.json", MANIFEST).header
    plan = plan_of(manifest, results)
    _refuse_others(seal, manifest, plan, results)
    run = Run(*_times(plan, results), license_url, *parties)
    folder = results_folder(manifest)
    frozen = [file for file in seal.files if file.path == "manifest.json"]
    contents: dict[str, Path | bytes] = {README: crate_readme(manifest, seal, run).encode()}
    contents |= {f"{folder}/{file.path}": results / file.path for file in (*seal.files, *seal.history)}
    contents |= {f"{folder}/{name}": results / name for name in _there(results, *_SEALS, *_TIMES)}
    contents |= _workflow(manifest, results)
    described = {name: _described(name, content) for name, content in contents.items()}
    files = CrateFiles(
        readme=described.pop(README),
        manifest=described.pop(f"{folder}/manifest.json"),
        results=[described.pop(f"{folder}/{file.path}") for file in seal.files if file not in frozen],
        times=[described.pop(f"{folder}/{name}") for name in _there(results, *_TIMES)],
        seals=[described.pop(name) for name in list(described) if name.startswith(f"{folder}/")],
        workflow=list(described.values()),
    )
    contents[METADATA] = canonical_json(crate_document(manifest, seal, run, files))
    write_atomically(output, lambda stream: _write(stream, contents))
    return len(contents)


def _refuse_others(seal: Seal, manifest: Manifest, plan: Plan, results: Path) -> None:
    """Raise ``IntegrityRefusal`` unless the seal is of what ``plan`` ends with, and the files are those."""
    remedy = "see commcanary campaign verify"
    if manifest.campaign != plan.name:
        found = f"is {manifest.campaign!r}, its configuration gives {plan.name!r}"
        raise IntegrityRefusal("campaign", found, remedy, file=str(results / "manifest.json"))
    sealed, expected = {file.path for file in seal.files}, set(sealed_files(plan))
    for path in sorted(sealed ^ expected):
        found = "is in the seal, not expected by the manifest" if path in sealed else "is not in the seal"
        raise IntegrityRefusal(path, found, remedy, file=str(results / SEAL))
    for file in seal.history:
        if not is_history(file.path):
            raise IntegrityRefusal(file.path, "is no manifest of the history", remedy, file=str(results / SEAL))
    for file in (*seal.files, *seal.history):
        if file_sha256(inside(results, file.path)) != file.sha256:
            raise IntegrityRefusal(file.path, "is not the file that was sealed", remedy, file=str(results))


def _party(option: str, text: str | None) -> Party | None:
    if text is None:
        return None
    found = _PARTY.fullmatch(text.strip())
    if found is None:
        raise UsageError(f'{option} {text}: give "NAME <URL>", the URL being an ORCID, a ROR or a home page')
    return Party(found[1].strip(), found[2])


def _check_urls(license_url: str, author: Party | None, organization: Party | None) -> None:
    if not _URL.fullmatch(license_url):
        raise UsageError(
            f"--license {license_url}: give the licence's URL, such as https://spdx.org/licenses/CC-BY-4.0"
        )
    urls = [license_url, *(party.url for party in (author, organization) if party)]
    if len(set(urls)) < len(urls):
        raise UsageError("--license, --author and --organization name one URL for two things; give each its own")


def _there(results: Path, *names: str) -> list[str]:
    return [name for name in names if inside(results, name).is_file()]


def _workflow(manifest: Manifest, results: Path) -> dict[str, Path]:
    """The workflow's files by their path in a checkout; the one here must be the one that ran."""
    root = repository_root()
    if manifest.code.workflow not in (None, workflow_digest(root)):
        found = f"is that of CommCanary {manifest.package_version}, and the workflow here is another"
        remedy = "export from a checkout of the version that ran the campaign"
        raise IntegrityRefusal("code.workflow", found, remedy, file=str(results / "manifest.json"))
    found_here = [root / WORKFLOW, *sorted((root / "workflow").rglob("*")), *(root / n for n in _BESIDE_THE_WORKFLOW)]
    return {p.relative_to(root).as_posix(): p for p in found_here if p.is_file() and p.suffix != ".pyc"}


def _times(plan: Plan, results: Path) -> tuple[str, str]:
    """From the first to the last receipt of a cell."""
    reports = (report_file(cell.workload, cell.representation, cell.configuration) for cell in plan.cells())
    receipts = (read_receipt(results / report) for report in reports)
    times = sorted(receipt.when for receipt in receipts if receipt is not None)
    if not times:
        found = "there are none, so that nobody knows when it ran"
        raise IntegrityRefusal("receipts", found, "run the campaign here", file=str(results))
    return times[0], times[-1]


def _described(name: str, content: Path | bytes) -> CrateFile:
    if isinstance(content, bytes):
        return CrateFile(name, len(content), hashlib.sha256(content).hexdigest())
    return CrateFile(name, content.stat().st_size, file_sha256(content))


def _write(stream: BinaryIO, contents: Mapping[str, Path | bytes]) -> None:
    """Entries in the order of their names and without times: the same campaign gives the same bytes."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(contents.items()):
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o644 << 16  # readable by whoever unpacks it
            data = content if isinstance(content, bytes) else read_bytes(content)
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
