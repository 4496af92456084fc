"""Stage: campaign configuration -> manifest, the list of all that the campaign is made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.artifacts.files import write_artifact
from commcanary.artifacts.stored import Stored
from commcanary.campaign.freeze import keep, refuse_change
from commcanary.campaign.manifest import MANIFEST, manifest_of

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.campaign.manifest import Manifest
    from commcanary.campaign.plan import Plan


def manifest_stage(plan: Plan, output: Path) -> Manifest:
    """Write the manifest of the campaign ``plan``, and keep it beside those before it.

    Raises ``ChangeRefusal`` where the campaign is frozen and was changed; nothing is written then.
    """
    check_freeze(plan, output.parent)
    manifest = manifest_of(plan)
    keep(manifest, output.parent)
    write_artifact(output, MANIFEST, Stored(manifest))
    return manifest


def check_freeze(plan: Plan, results: Path) -> None:
    """Raise ``ChangeRefusal``, with every difference, where ``plan`` is ``freeze: strict`` and was changed."""
    if plan.config.freeze == "strict":
        refuse_change(manifest_of(plan), results)
