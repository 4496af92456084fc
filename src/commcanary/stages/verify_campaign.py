"""Stage: a sealed campaign -> everything in it that is not what it says."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commcanary.artifacts.files import read_artifact, read_bytes
from commcanary.campaign.freeze import history_faults, is_history
from commcanary.campaign.layout import SEAL, SUMS, by_products, own_files, sealed_files
from commcanary.campaign.links import inside
from commcanary.campaign.manifest import MANIFEST, plan_of
from commcanary.campaign.receipts import file_sha256
from commcanary.campaign.restated import STATED, contradictions, other_version
from commcanary.campaign.seal import SEALS, root_of, sums_of
from commcanary.errors import Refusal
from commcanary.stages.derivations import derivations
from commcanary.stages.derived_again import derived_again, unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from commcanary.campaign.plan import Plan
    from commcanary.campaign.seal import Seal
    from commcanary.stages.derivations import Derivation


@dataclass(frozen=True)
class CampaignVerification:
    """``differs`` names a file or field and what is wrong with it; empty where everything holds.

    ``other_version`` names fields of the manifest that are about other code than this; ``stated`` what nothing
    in the folder can confirm, ``not_sealed`` the by-products that are there and in no seal.
    """

    root: str
    files: int
    derived: int
    derivable: int
    not_derived: tuple[str, ...]
    other_version: tuple[str, ...]
    stated: tuple[str, ...]
    not_sealed: tuple[str, ...]
    differs: tuple[str, ...]


def verify_campaign_stage(
    results: Path,
    more: Callable[[Plan], Iterable[Derivation]] = lambda _plan: (),
    *,
    sample: int | None = None,
    seed: int | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> CampaignVerification:
    """Hash every sealed file of the campaign in ``results`` again, and derive again what it holds.

    ``more`` gives the plan's derivations of rooms that stages do not know. ``sample`` takes so many, drawn by
    ``seed`` or at random; files are always all hashed. Raises ``Refusal`` where there is no readable seal or
    manifest: then there is nothing to verify against.
    """
    seal = read_artifact(results / SEAL, SEALS).header
    differs = list(_files(seal, results))
    manifest = read_artifact(results / "manifest.json", MANIFEST)
    plan = plan_of(manifest.header, results)
    differs += _coverage(seal, manifest.content_id, plan)
    differs += contradictions(manifest.header, plan)
    differs += history_faults(results, manifest.content_id)
    every = [*derivations(plan), *more(plan)]
    chosen = every if sample is None else random.Random(seed).sample(every, min(sample, len(every)))
    for done, derivation in enumerate(chosen):
        progress(done, len(chosen))
        differs += derived_again(derivation, results)
    derivable = {path for derivation in every for path in derivation.outputs}
    not_derived = tuple(file.path for file in seal.files if file.path not in {*derivable, "manifest.json"})
    differs += unreadable(not_derived, results)
    return CampaignVerification(
        root=seal.merkle_root,
        files=len(seal.files),
        derived=len(chosen),
        derivable=len(every),
        not_derived=not_derived,
        other_version=tuple(other_version(manifest.header)),
        stated=STATED,
        not_sealed=by_products(results),
        differs=tuple(differs),
    )


def _files(seal: Seal, results: Path) -> Iterator[str]:
    if root_of(seal.files) != seal.merkle_root:
        yield f"{SEAL}: merkle_root is {seal.merkle_root[:12]}, its files give {root_of(seal.files)[:12]}"
    try:
        if read_bytes(results / SUMS).decode("utf-8", "replace") != sums_of(seal.files):
            yield f"{SUMS}: does not list the files of {SEAL}"
    except Refusal:
        yield f"{SUMS}: missing"
    for file in (*seal.files, *seal.history):
        try:
            path = inside(results, file.path)
            if not path.is_file():
                yield f"{file.path}: missing"
            elif path.stat().st_size != file.bytes or file_sha256(path) != file.sha256:
                yield f"{file.path}: changed after the seal"
        except Refusal as refusal:
            yield f"{file.path}: {refusal.found}"
    yield from (f"{file.path}: is no manifest of the history" for file in seal.history if not is_history(file.path))
    there = {*own_files(results), *(f"manifests/{path.name}" for path in (results / "manifests").glob("[0-9]*-*.json"))}
    known = {file.path for file in (*seal.files, *seal.history)}
    yield from (f"not sealed: {name}" for name in sorted(there) if name not in known)


def _coverage(seal: Seal, manifest: str, plan: Plan) -> Iterator[str]:
    if seal.manifest != manifest:
        yield f"manifest.json: the seal is of manifest {seal.manifest[:12]}, this one is {manifest[:12]}"
    if seal.campaign != plan.name:
        yield f"{SEAL}: is of campaign {seal.campaign}, the manifest of {plan.name}"
    expected, sealed = set(sealed_files(plan)), {file.path for file in seal.files}
    yield from (f"{path}: expected by the manifest, not in the seal" for path in sorted(expected - sealed))
    yield from (f"{path}: in the seal, not expected by the manifest" for path in sorted(sealed - expected))
