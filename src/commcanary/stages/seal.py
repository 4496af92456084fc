"""Stage: a finished campaign -> its seal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from commcanary.artifacts.atomic import write_text
from commcanary.artifacts.files import read_artifact, write_artifact
from commcanary.artifacts.stored import Stored
from commcanary.campaign.cells import refuse_incomplete
from commcanary.campaign.freeze import ChangeRefusal, differences, history_faults
from commcanary.campaign.layout import SEAL, SUMS, own_files, sealed_files
from commcanary.campaign.links import own_place, refuse_links_out
from commcanary.campaign.manifest import MANIFEST, manifest_of, plan_of
from commcanary.campaign.plan import Plan
from commcanary.campaign.restated import contradictions
from commcanary.campaign.seal import SEALS, seal_of, sums_of
from commcanary.errors import IntegrityRefusal
from commcanary.stages.derivations import derivations
from commcanary.stages.derived_again import derived_again

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from commcanary.campaign.manifest import Manifest
    from commcanary.campaign.seal import Seal
    from commcanary.stages.derivations import Derivation


def seal_stage(results: Path, config_path: Path | None = None) -> Seal:
    """Write ``seal.json`` and ``seal.sha256`` over every output of the campaign in the folder ``results``.

    Files that the manifest in force knows nothing of (of an earlier configuration) are moved to
    ``superseded/``. Raises ``IntegrityRefusal`` for an incomplete campaign, for a manifest that contradicts
    itself or its history and, where ``config_path`` is given, for one whose inputs changed while it ran;
    ``StorageRefusal`` for a link that leads out of the folder. Nothing is written then.
    """
    stored = read_artifact(results / "manifest.json", MANIFEST)
    manifest = stored.header
    if config_path is not None:
        _refuse_changed(manifest, config_path, results)
    plan = _finished_plan(stored, results)
    expected = sealed_files(plan)
    missing = [path for path in expected if not (results / path).is_file()]
    if missing:
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        raise IntegrityRefusal(
            "outputs", f"{', '.join(missing[:3])}{more} missing", "run the campaign again", file=str(results)
        )
    _set_aside(results, expected, stored.content_id)
    seal = seal_of(manifest.campaign, stored.content_id, results, expected)
    write_text(results / SUMS, sums_of(seal.files))
    write_artifact(results / SEAL, SEALS, Stored(seal))
    return seal


def checked_seal_stage(
    results: Path,
    more: Callable[[Plan], Iterable[Derivation]],
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Seal:
    """Seal what no workflow vouches for: every result is derived again first, as ``verify_campaign_stage`` does.

    Raises ``IntegrityRefusal`` naming the first that do not follow from what lies there, beside what ``seal_stage``
    raises; nothing is written then.
    """
    plan = _finished_plan(read_artifact(results / "manifest.json", MANIFEST), results)
    every = [*derivations(plan), *more(plan)]
    differs: list[str] = []
    for done, derivation in enumerate(every):
        progress(done, len(every))
        differs += derived_again(derivation, results)
    if differs:
        more_of_them = f" and {len(differs) - 3} more" if len(differs) > 3 else ""
        raise IntegrityRefusal(
            "results",
            f"{len(differs)} do not follow from what lies there: {'; '.join(differs[:3])}{more_of_them}",
            "run the campaign again",
            file=str(results),
        )
    return seal_stage(results)


def _refuse_changed(manifest: Manifest, config_path: Path, results: Path) -> None:
    found = differences(manifest, manifest_of(Plan.load(config_path)))
    if found:
        raise ChangeRefusal(
            "",
            f"the campaign was changed in {len(found)} places while it ran",
            "run it again",
            file=str(results / "manifest.json"),
            differences=found,
        )


def _finished_plan(stored: Stored[Manifest], results: Path) -> Plan:
    refuse_links_out(results)
    plan = plan_of(stored.header, results)
    found = (*contradictions(stored.header, plan), *history_faults(results, stored.content_id))
    if found:
        raise IntegrityRefusal(
            "", f"was changed by hand: {'; '.join(found[:3])}", "run the campaign again", file=str(results)
        )
    refuse_incomplete(plan, results)
    return plan


def _set_aside(results: Path, expected: tuple[str, ...], manifest: str) -> None:
    for name in sorted(set(own_files(results)) - set(expected)):
        path = results / name
        if path.name.startswith(".") and path.suffix == ".tmp":
            path.unlink()  # half a file that a killed job left
            continue
        aside = own_place(results, results / "superseded" / manifest[:12] / name)
        aside.parent.mkdir(parents=True, exist_ok=True)
        Path(path).rename(aside)
