"""One page over all sealed campaigns of a folder: what each said, and a link to every artifact."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from commcanary.artifacts.files import read_artifact
from commcanary.campaign.layout import SEAL
from commcanary.campaign.manifest import MANIFEST
from commcanary.campaign.seal import SEALS
from commcanary.errors import StorageRefusal
from commcanary.reporting.pages import write_page
from commcanary.reporting.tables import read_null_calibrations, read_representations

if TYPE_CHECKING:
    from commcanary.campaign.seal import SealedFile
    from commcanary.reporting.tables import RepresentationRow


@dataclass(frozen=True)
class CampaignRow:
    """One sealed campaign; ``statuses`` count its representations.

    ``expected`` counts what the campaign declared of representations and gates, ``unexpected`` names what came out
    otherwise.
    """

    name: str
    title: str
    cells: int
    root: str
    statuses: tuple[tuple[str, int], ...]
    expected: int
    unexpected: tuple[str, ...]
    representations: tuple[RepresentationRow, ...]
    files: tuple[SealedFile, ...]


def write_index_page(results: Path, output: Path) -> None:
    """Write the page over every sealed campaign in the folder ``results``; its links start from there.

    Raises ``StorageRefusal`` where there is none.
    """
    folders = sorted(path.parent for path in Path(results).glob(f"*/{SEAL}"))
    if not folders:
        raise StorageRefusal("", "holds no sealed campaign", "run one to its end", file=str(results))
    write_page(output, "index.html.jinja", campaigns=tuple(_row(folder) for folder in folders))


def _row(folder: Path) -> CampaignRow:
    seal = read_artifact(folder / SEAL, SEALS).header
    manifest = read_artifact(folder / "manifest.json", MANIFEST).header
    representations = read_representations(folder / "tables" / "representations.parquet")
    gates = read_null_calibrations(folder / "tables" / "null_calibrations.parquet")
    declared = [(row, row.is_unexpected) for row in representations if row.expected_status]
    declared_gates = [(row, row.outcome != row.expected_outcome) for row in gates if row.expected_outcome]
    return CampaignRow(
        name=folder.name,
        title=manifest.config.get("title", ""),
        cells=len(manifest.cells),
        root=seal.merkle_root,
        statuses=tuple(Counter(str(row.status) for row in representations).most_common()),
        expected=len(declared) + len(declared_gates),
        unexpected=(
            *(f"{row.workload} as {row.representation}" for row, other in declared if other),
            *(f"gate of {row.workload} as {row.representation}" for row, other in declared_gates if other),
        ),
        representations=representations,
        files=seal.files,
    )
