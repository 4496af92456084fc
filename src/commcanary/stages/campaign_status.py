"""Stage: a campaign's folder -> how far it is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commcanary.artifacts.files import read_artifact
from commcanary.campaign.cells import DONE, FAILED, MISSING, STALE, cell_states
from commcanary.campaign.layout import SEAL, own_files, sealed_files
from commcanary.campaign.logs import failures
from commcanary.campaign.manifest import MANIFEST, plan_of
from commcanary.campaign.receipts import file_sha256
from commcanary.campaign.seal import SEALS
from commcanary.errors import EXIT_DONE, EXIT_NEGATIVE_VERDICT, Refusal

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.campaign.cells import CellState


@dataclass(frozen=True)
class CampaignStatus:
    """Every cell's state; expected outputs that are missing; files that the manifest does not know.

    ``failures`` are logs of jobs that failed, each with its last line, where something is missing. ``unsealed`` says
    why there is no seal of what is there, None where there is one.
    """

    campaign: str
    cells: tuple[CellState, ...]
    missing: tuple[str, ...]
    unknown: tuple[str, ...]
    failures: tuple[str, ...]
    unsealed: str | None

    @property
    def counts(self) -> dict[str, int]:
        """Number of cells per state, each of the four."""
        counted = Counter(cell.state for cell in self.cells)
        return {state: counted[state] for state in (DONE, FAILED, MISSING, STALE)}

    @property
    def exit_code(self) -> int:
        """0 where every cell and every output is there and sealed, 1 otherwise."""
        complete = self.counts[DONE] == len(self.cells) and not self.missing and self.unsealed is None
        return EXIT_DONE if complete else EXIT_NEGATIVE_VERDICT


def campaign_status_stage(results: Path) -> CampaignStatus:
    """The status of the campaign in the folder ``results``; raises ``StorageRefusal`` where it has no manifest."""
    stored = read_artifact(results / "manifest.json", MANIFEST)
    plan = plan_of(stored.header, results)
    expected = sealed_files(plan)
    missing = tuple(path for path in expected if not (results / path).is_file())
    return CampaignStatus(
        campaign=plan.name,
        cells=tuple(cell_states(plan, results)),
        missing=missing,
        unknown=tuple(path for path in own_files(results) if path not in set(expected)),
        failures=tuple(failures(results)) if missing else (),
        unsealed=_unsealed(results, stored.content_id, expected),
    )


def _unsealed(results: Path, manifest: str, expected: tuple[str, ...]) -> str | None:
    if not (results / SEAL).is_file():
        return "it is not sealed"
    try:
        seal = read_artifact(results / SEAL, SEALS).header
        if seal.manifest != manifest:
            return "its seal is of an earlier manifest"
        if tuple(file.path for file in seal.files) != expected:
            return "its seal lists other files than its manifest"
        changed = [file.path for file in seal.files if file_sha256(results / file.path) != file.sha256]
    except Refusal as refusal:
        return f"its seal cannot be checked ({refusal})"
    return f"{changed[0]} is newer than the seal" if changed else None
