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
from commcanary.errors import EXIT_DONE, EXIT_NEGATIVE_VERDICT

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.campaign.cells import CellState


@dataclass(frozen=True)
class CampaignStatus:
    """Every cell's state; expected outputs that are missing; files that the manifest does not know.

    ``failures`` are logs of jobs that failed, each with its last line, where something is missing.
    """

    campaign: str
    cells: tuple[CellState, ...]
    missing: tuple[str, ...]
    unknown: tuple[str, ...]
    failures: tuple[str, ...]
    sealed: bool

    @property
    def counts(self) -> dict[str, int]:
        """Number of cells per state, each of the four."""
        counted = Counter(cell.state for cell in self.cells)
        return {state: counted[state] for state in (DONE, FAILED, MISSING, STALE)}

    @property
    def exit_code(self) -> int:
        """0 where every cell and every output is there, 1 otherwise."""
        complete = self.counts[DONE] == len(self.cells) and not self.missing
        return EXIT_DONE if complete else EXIT_NEGATIVE_VERDICT


def campaign_status_stage(results: Path) -> CampaignStatus:
    """The status of the campaign in the folder ``results``; raises ``StorageRefusal`` where it has no manifest."""
    manifest = read_artifact(results / "manifest.json", MANIFEST).header
    plan = plan_of(manifest, results)
    expected = sealed_files(plan)
    missing = tuple(path for path in expected if not (results / path).is_file())
    return CampaignStatus(
        campaign=plan.name,
        cells=tuple(cell_states(plan, results)),
        missing=missing,
        unknown=tuple(path for path in own_files(results) if path not in set(expected)),
        failures=tuple(failures(results)) if missing else (),
        sealed=(results / SEAL).is_file(),
    )
