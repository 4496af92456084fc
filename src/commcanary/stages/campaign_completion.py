"""Stage: a campaign's configuration and folder -> what is missing from the finished, sealed campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.artifacts.files import read_artifact
from commcanary.campaign.cells import DONE
from commcanary.campaign.freeze import differences
from commcanary.campaign.manifest import MANIFEST, manifest_of
from commcanary.errors import Refusal
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
    except Refusal as refusal:
        return str(refusal)
    if status.missing or status.counts[DONE] != len(status.cells):
        cells = ", ".join(f"{count} cells {state}" for state, count in status.counts.items() if count)
        return f"{cells}; {len(status.missing)} outputs missing"
    return status.unsealed
