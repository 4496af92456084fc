"""Stage: a campaign's configuration and folder -> what is missing from the finished, sealed campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.artifacts.files import read_artifact
from commcanary.campaign.freeze import differences
from commcanary.campaign.layout import SEAL
from commcanary.campaign.manifest import MANIFEST, manifest_of
from commcanary.campaign.receipts import file_sha256
from commcanary.campaign.seal import SEALS
from commcanary.errors import EXIT_DONE, Refusal
from commcanary.stages.campaign_status import campaign_status_stage

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.campaign.plan import Plan


def why_incomplete(plan: Plan, results: Path) -> str | None:
    """Why the campaign of ``plan`` in ``results`` is not complete, in a few words; None where it is.

    It is where the manifest in force is of ``plan`` as it is now, every cell and output is there, and the seal
    is of that manifest and of these files.
    """
    if not (results / "manifest.json").is_file():
        return "nothing was made yet"
    try:
        manifest = read_artifact(results / "manifest.json", MANIFEST)
        status = campaign_status_stage(results)
        if differences(manifest.header, manifest_of(plan)):
            return "its results are of another configuration, other inputs or other code"
        if status.exit_code != EXIT_DONE:
            cells = ", ".join(f"{count} cells {state}" for state, count in status.counts.items() if count)
            return f"{cells}; {len(status.missing)} outputs missing"
        if not status.sealed:
            return "it is not sealed"
        seal = read_artifact(results / SEAL, SEALS).header
        if seal.manifest != manifest.content_id:
            return "its seal is of an earlier manifest"
        changed = [file.path for file in seal.files if file_sha256(results / file.path) != file.sha256]
    except Refusal as refusal:
        return str(refusal)
    return f"{changed[0]} is newer than the seal" if changed else None
