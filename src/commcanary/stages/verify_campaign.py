"""Stage: a sealed campaign -> everything in it that is not what it says."""

from __future__ import annotations

import random
import tempfile
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from commcanary.artifacts.files import read_artifact, read_bytes
from commcanary.campaign.layout import SEAL, SUMS, own_files, sealed_files
from commcanary.campaign.manifest import MANIFEST, expected_cells, plan_of
from commcanary.campaign.provenance import code_digests
from commcanary.campaign.receipts import file_sha256
from commcanary.campaign.seal import SEALS, root_of, sums_of
from commcanary.errors import Refusal
from commcanary.stages.derivations import derivations
from commcanary.stages.same_values import difference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from commcanary.campaign.manifest import Manifest
    from commcanary.campaign.plan import Plan
    from commcanary.campaign.seal import Seal
    from commcanary.stages.derivations import Derivation


@dataclass(frozen=True)
class CampaignVerification:
    """``differs`` names a file or field and what is wrong with it; empty where everything holds."""

    root: str
    files: int
    derived: int
    derivable: int
    not_derived: tuple[str, ...]
    same_code: bool
    differs: tuple[str, ...]


def verify_campaign_stage(
    results: Path,
    more: Sequence[Derivation] = (),
    *,
    sample: int | None = None,
    seed: int | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> CampaignVerification:
    """Hash every sealed file of the campaign in ``results`` again, and derive again what it holds.

    ``more`` are derivations of rooms that stages do not know. ``sample`` takes so many derivations, drawn by
    ``seed`` or at random; files are always all hashed. Raises ``Refusal`` where there is no readable seal or
    manifest: then there is nothing to verify against.
    """
    seal = read_artifact(results / SEAL, SEALS).header
    differs = list(_files(seal, results))
    manifest = read_artifact(results / "manifest.json", MANIFEST)
    plan = plan_of(manifest.header, results)
    same_code = manifest.header.code == code_digests()
    differs += _coverage(seal, manifest.content_id, plan)
    differs += _cells(manifest.header, plan, same_code)
    every = [*derivations(plan), *more]
    chosen = every if sample is None else random.Random(seed).sample(every, min(sample, len(every)))
    for done, derivation in enumerate(chosen):
        progress(done, len(chosen))
        differs += _derived_again(derivation, results)
    derivable = {path for derivation in every for path in derivation.outputs}
    return CampaignVerification(
        root=seal.merkle_root,
        files=len(seal.files),
        derived=len(chosen),
        derivable=len(every),
        not_derived=tuple(file.path for file in seal.files if file.path not in {*derivable, "manifest.json"}),
        same_code=same_code,
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
    for file in seal.files:
        path = results / file.path
        if not path.is_file():
            yield f"{file.path}: missing"
        elif path.stat().st_size != file.bytes or file_sha256(path) != file.sha256:
            yield f"{file.path}: changed after the seal"
    known = {file.path for file in seal.files}
    yield from (f"{name}: added after the seal" for name in own_files(results) if name not in known)


def _coverage(seal: Seal, manifest: str, plan: Plan) -> Iterator[str]:
    if seal.manifest != manifest:
        yield f"manifest.json: the seal is of manifest {seal.manifest[:12]}, this one is {manifest[:12]}"
    if seal.campaign != plan.name:
        yield f"{SEAL}: is of campaign {seal.campaign}, the manifest of {plan.name}"
    expected, sealed = set(sealed_files(plan)), {file.path for file in seal.files}
    yield from (f"{path}: expected by the manifest, not in the seal" for path in sorted(expected - sealed))
    yield from (f"{path}: in the seal, not expected by the manifest" for path in sorted(sealed - expected))


def _cells(manifest: Manifest, plan: Plan, same_code: bool) -> Iterator[str]:
    """Cell ids depend on the code, so they can only be recomputed by the code that the manifest names."""
    for stated, follows in zip_longest(manifest.cells, expected_cells(plan, manifest.inputs)):
        names = [cell and (cell.workload, cell.representation, cell.configuration) for cell in (stated, follows)]
        if names[0] != names[1] or (same_code and stated != follows):
            yield f"manifest.json: cells: {'/'.join(names[0] or names[1] or ())} does not follow from its configuration"


def _derived_again(derivation: Derivation, results: Path) -> Iterator[str]:
    if not all((results / path).is_file() for path in derivation.outputs):
        return  # named as missing already
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        try:
            derivation.make(results, scratch)
        except Refusal as refusal:
            yield f"{derivation.outputs[0]}: cannot be derived again: {refusal}"
            return
        for path in derivation.outputs:
            found = difference(scratch / path, results / path)
            if found:
                yield f"{path}: derived again it differs: {found}"
