"""One page over all sealed campaigns of a folder: what each said, and a link to every artifact."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from commcanary.artifacts.files import read_artifact
from commcanary.campaign.layout import SEAL
from commcanary.campaign.manifest import MANIFEST, plan_of
from commcanary.campaign.seal import SEALS
from commcanary.errors import IntegrityRefusal, Refusal, StorageRefusal
from commcanary.reporting.expected import Expected, expected
from commcanary.reporting.pages import write_page
from commcanary.reporting.tables import read_null_calibrations, read_representations

if TYPE_CHECKING:
    from commcanary.campaign.seal import SealedFile
    from commcanary.reporting.tables import RepresentationRow


@dataclass(frozen=True)
class CampaignRow:
    """One sealed campaign; ``statuses`` count its representations, ``gates`` what its null calibrations said."""

    name: str
    title: str
    cells: int
    root: str
    statuses: tuple[tuple[str, int], ...]
    gates: tuple[tuple[str, int], ...]
    expected: Expected
    representations: tuple[RepresentationRow, ...]
    files: tuple[SealedFile, ...]


def write_index_page(results: Path, output: Path) -> None:
    """Write the page over every sealed campaign in the folder ``results``; its links start from there.

    One that cannot be read, such as another version's, is named with the reason. Raises ``StorageRefusal`` where there
    is none.
    """
    folders = sorted(path.parent for path in Path(results).glob(f"*/{SEAL}"))
    if not folders:
        raise StorageRefusal("", "holds no sealed campaign", "run one to its end", file=str(results))
    rows: list[CampaignRow] = []
    unread: list[tuple[str, str]] = []
    for folder in folders:
        try:
            rows.append(_row(folder))
        except Refusal as refusal:
            unread.append((folder.name, _why(refusal, Path(results))))
    write_page(output, "index.html.jinja", campaigns=tuple(rows), unread=tuple(unread))


def _why(refusal: Refusal, results: Path) -> str:
    """The refusal, its files named from the folder that every campaign lies in."""
    return str(refusal).replace(f"{results}/", "")


def _row(folder: Path) -> CampaignRow:
    seal = read_artifact(folder / SEAL, SEALS).header
    stored = read_artifact(folder / "manifest.json", MANIFEST)
    if seal.manifest != stored.content_id:
        raise IntegrityRefusal("", "is of an earlier manifest", "run the campaign to its end", file=str(folder / SEAL))
    manifest = stored.header
    representations = read_representations(folder / "tables" / "representations.parquet")
    gates = read_null_calibrations(folder / "tables" / "null_calibrations.parquet")
    return CampaignRow(
        name=folder.name,
        title=plan_of(manifest, folder).config.title,
        cells=len(manifest.cells),
        root=seal.merkle_root,
        statuses=tuple(Counter(str(row.status) for row in representations).most_common()),
        gates=tuple(Counter(row.outcome for row in gates).most_common()),
        expected=expected(representations, gates),
        representations=representations,
        files=seal.files,
    )
