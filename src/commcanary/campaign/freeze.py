"""Freezing a campaign: every manifest that a campaign's folder has had, and what changed between two of them.

``manifests/`` keeps them as ``0001-ID.json``, ``0002-ID.json`` and so on, ID being the first 12 digits of the
content id; the last is the one in force. Nothing there is ever replaced.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from commcanary.artifacts.canonical import canonical_json
from commcanary.artifacts.files import read_artifact, write_artifact
from commcanary.artifacts.jsontext import decode
from commcanary.artifacts.stored import Stored
from commcanary.campaign.leaves import changed_leaves
from commcanary.campaign.manifest import MANIFEST
from commcanary.campaign.plan import Plan
from commcanary.errors import IntegrityRefusal, Refusal
from commcanary.units import show_count

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from commcanary.campaign.manifest import Manifest

NAMED = re.compile(r"^(?P<number>[0-9]{4,})-(?P<id>[0-9a-f]{12})\.json\Z")
"""Names of the manifests that a folder has had."""


def is_history(path: str) -> bool:
    """Whether ``path``, from the campaign's folder, is that of a manifest which the folder has had."""
    folder, _, name = path.rpartition("/")
    return folder == "manifests" and NAMED.match(name) is not None


class ChangeRefusal(IntegrityRefusal):
    """A frozen campaign was changed; ``differences`` follow the refusal's line, one a line."""

    def __init__(self, place: str, found: str, remedy: str, *, file: str, differences: tuple[str, ...]) -> None:
        super().__init__(place, found, remedy, file=file)
        self.differences = differences

    @property
    def lines(self) -> tuple[str, ...]:
        """The refusal, and every difference."""
        return (super().__str__(), *(f"  {difference}" for difference in self.differences))

    def __str__(self) -> str:
        return "\n".join(self.lines)


def frozen_path(results: Path) -> Path | None:
    """The manifest in force of the campaign in the folder ``results``, None before the first."""
    return max((results / "manifests").glob("[0-9]*-*.json"), default=None)


def load_as_started(config_path: Path, resolved: dict[str, Any]) -> Plan:
    """The plan at ``config_path``, for a job of a run that was started with it ``resolved`` so.

    Raises ``ChangeRefusal`` where it is another by now: the job's result would not be what the engine takes it for.
    """
    plan = Plan.load(config_path)
    found = tuple(changed_leaves(_plain(resolved), _plain(plan.resolved)))
    if found:
        raise ChangeRefusal(
            "",
            f"was changed in {show_count(len(found), 'place')} after the run was started",
            "run it again",
            file=str(config_path),
            differences=found,
        )
    return plan


def refuse_change(manifest: Manifest, results: Path) -> None:
    """Raise ``ChangeRefusal`` where ``manifest`` is not the one in force in ``results``."""
    path = frozen_path(results)
    if path is None:
        return
    found = differences(read_artifact(path, MANIFEST).header, manifest)
    if found:
        raise ChangeRefusal(
            "freeze: strict",
            f"the campaign was changed in {len(found)} places since it was frozen",
            "undo the change, give the campaign another name, or set freeze: auto",
            file=str(path),
            differences=found,
        )


def keep(manifest: Manifest, results: Path) -> Path:
    """Write ``manifest`` beside those before it, unless it is the one in force; returns its path."""
    path, stored = frozen_path(results), Stored(manifest)
    number = 0 if path is None else int(path.name.partition("-")[0])
    if path is not None and read_artifact(path, MANIFEST).content_id == stored.content_id:
        return path
    new = results / "manifests" / f"{number + 1:04d}-{stored.content_id[:12]}.json"
    write_artifact(new, MANIFEST, stored)
    return new


def history_faults(results: Path, in_force: str) -> Iterator[str]:
    """What is wrong with ``manifests/``: gaps, names that are not their content's, a last one that is not ``in_force``.

    ``in_force`` is the content id of ``manifest.json``.
    """
    named = [(path, NAMED.match(path.name)) for path in sorted((results / "manifests").glob("*"))]
    kept = [(path, match) for path, match in named if match]
    for number, (path, match) in enumerate(kept, start=1):
        place = f"manifests/{path.name}"
        if int(match["number"]) != number:
            yield f"{place}: is not number {number} of the history"
            return
        try:
            found = read_artifact(path, MANIFEST).content_id
        except Refusal as refusal:
            yield f"{place}: cannot be read: {refusal.found}"
            continue
        if found[:12] != match["id"]:
            yield f"{place}: is manifest {found[:12]}, not the one that its name says"
        if number == len(kept) and found != in_force:
            yield f"{place}: the last of the history is not manifest.json ({in_force[:12]})"
    if not kept:
        yield "manifests/: has no manifest, manifest.json has no history"


def differences(old: Manifest, new: Manifest) -> tuple[str, ...]:
    """Every leaf that differs, as ``path: old -> new``; cells that change are counted in one line."""
    lines = changed_leaves(_document(old), _document(new))
    return (*lines, *_changed_cells(old, new))


def _document(manifest: Manifest) -> dict[str, Any]:
    document = _plain(manifest)
    del document["cells"], document["policy"], document["expected"]  # the last two follow from config
    return document


def _plain(document: object) -> dict[str, Any]:
    return decode(canonical_json(document), dict[str, Any])


def _changed_cells(old: Manifest, new: Manifest) -> Iterator[str]:
    before, after = _cells(old), _cells(new)
    for what, names in (
        ("removed", [name for name in before if name not in after]),
        ("added", [name for name in after if name not in before]),
        ("to be made again", [name for name in before if name in after and before[name] != after[name]]),
    ):
        if names:
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            yield f"cells {what}: {len(names)} ({', '.join(names[:3])}{more})"


def _cells(manifest: Manifest) -> dict[str, str]:
    return {f"{cell.workload}/{cell.representation}/{cell.configuration}": cell.id for cell in manifest.cells}
