"""A manifest that says something else than its configuration, its code or its history is named, sealed again or not."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from commcanary.artifacts.atomic import write_text
from commcanary.artifacts.files import read_artifact, write_artifact
from commcanary.artifacts.stored import Stored
from commcanary.campaign.layout import sealed_files
from commcanary.campaign.manifest import MANIFEST, ExpectedCell, InputFile, Manifest, plan_of
from commcanary.campaign.provenance import CodeDigests
from commcanary.campaign.seal import SEALS, seal_of, sums_of
from commcanary.cli.main import run
from commcanary.stages.verify_campaign import verify_campaign_stage


def forge(results: Path, **change: Any) -> None:
    """The whole attack: another manifest, the history's file under its new name, and the seal over both."""
    stored = Stored(msgspec.structs.replace(read_artifact(results / "manifest.json", MANIFEST).header, **change))
    write_artifact(results / "manifest.json", MANIFEST, stored)
    for old in (results / "manifests").iterdir():
        old.unlink()
    write_artifact(results / "manifests" / f"0001-{stored.content_id[:12]}.json", MANIFEST, stored)
    seal_again(results)


def seal_again(results: Path) -> None:
    manifest = read_artifact(results / "manifest.json", MANIFEST)
    seal = seal_of("small", manifest.content_id, results, sealed_files(plan_of(manifest.header, results)))
    write_artifact(results / "seal.json", SEALS, Stored(seal))
    write_text(results / "seal.sha256", sums_of(seal.files))


def of(results: Path) -> Manifest:
    return read_artifact(results / "manifest.json", MANIFEST).header


def without_defaults(manifest: Manifest) -> dict[str, Any]:
    return {key: value for key, value in manifest.config.items() if key != "thresholds"}


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            lambda m: {"expected": {"made": {"canary": "failed"}}},
            "manifest.json: expected.made.canary: is failed, its configuration gives behaviorally_verified",
        ),
        (lambda m: {"expected": {}}, "manifest.json: expected.made.canary: is absent, its configuration gives"),
        (lambda m: {"policy": {**m.policy, "min_ranking_agreement": 0.0}}, "manifest.json: policy.min_ranking"),
        (lambda m: {"models": {}}, "manifest.json: models[0]: is absent, its configuration gives scheduler-v4"),
        (lambda m: {"models": {**m.models, "own": "1"}}, "manifest.json: models[0]: is own"),
        (lambda m: {"config": without_defaults(m)}, "manifest.json: config.thresholds."),
        (lambda m: {"campaign": "other"}, "manifest.json: campaign: is other, its configuration gives small"),
        (
            lambda m: {"inputs": (InputFile("made", "profile.json", 1, "0" * 64),)},
            "manifest.json: inputs[0][0]: is made, its configuration gives absent",
        ),
        (lambda m: {"cells": m.cells[1:]}, "manifest.json: cells: made/canary/baseline does not follow"),
        (lambda m: {"cells": (*m.cells, m.cells[0])}, "manifest.json: cells: are not those of its configuration"),
        (
            lambda m: {"cells": (ExpectedCell("made", "canary", "baseline", "0" * 64), *m.cells[1:])},
            "manifest.json: cells: made/canary/baseline does not follow from its configuration",
        ),
    ],
)
def test_a_field_that_its_configuration_does_not_give_is_named(
    results: Path, change: Callable[[Manifest], dict[str, Any]], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    forge(results, **change(of(results)))
    found = verify_campaign_stage(results, sample=0).differs
    assert [difference for difference in found if difference.startswith(line)], found
    assert run(["campaign", "seal", str(results)]) == 3
    assert "was changed by hand: manifest.json: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda m: {"package_version": "99.0"}, "package_version: 99.0, here "),
        (lambda m: {"code": CodeDigests("0" * 64, m.code.workflow)}, "code.src: 000000000000..., here "),
        (lambda m: {"models": {"scheduler-v4": "0.1"}}, "models.scheduler-v4: 0.1, here "),
    ],
)
def test_other_code_is_another_version_and_does_not_hold(
    results: Path, change: Callable[[Manifest], dict[str, Any]], field: str, capsys: pytest.CaptureFixture[str]
) -> None:
    forge(results, **change(of(results)))
    assert verify_campaign_stage(results, sample=0).differs == ()
    assert run(["campaign", "verify", str(results), "--sample", "1", "--seed", "1"]) == 1
    first, second = capsys.readouterr().out.splitlines()[:2]
    assert ": made by another version; " in first
    assert second.startswith(f"- made by another version: {field}")


def test_what_nothing_can_confirm_is_said(sealed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["campaign", "verify", str(sealed), "--sample", "1"]) == 0
    out = capsys.readouterr().out
    assert "\nstated, not derived: environment (the packages that were installed); inputs (" in out
    assert "\nby-products, not sealed: */*/reports/*.parquet.receipt.json, */*/reports/index-*.json\n" in out


def test_a_sample_of_nothing_is_a_usage_error(sealed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["campaign", "verify", str(sealed), "--sample", "0"]) == 2
    assert "holds" not in capsys.readouterr().out


def kept(results: Path) -> Path:
    return next((results / "manifests").iterdir())


def other_manifest(results: Path) -> Stored[Manifest]:
    return Stored(msgspec.structs.replace(of(results), package_version="0.0"))


def test_history_removed_added_or_edited_after_the_seal_is_named(results: Path) -> None:
    only = kept(results)
    name, data = f"manifests/{only.name}", only.read_bytes()
    only.unlink()
    assert f"{name}: missing" in verify_campaign_stage(results, sample=0).differs
    write_artifact(only, MANIFEST, other_manifest(results))
    found = verify_campaign_stage(results, sample=0).differs
    assert f"{name}: changed after the seal" in found
    assert any(line.startswith(f"{name}: is manifest ") for line in found)
    only.write_bytes(data)
    shutil.copy(only, only.with_name("0002-000000000000.json"))
    found = verify_campaign_stage(results, sample=0).differs
    assert "not sealed: manifests/0002-000000000000.json" in found


def test_a_history_that_is_none_is_not_sealed(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    only = kept(results)
    only.rename(only.with_name(only.name.replace("0001-", "0002-")))
    seal_again(results)
    assert verify_campaign_stage(results, sample=0).differs == (
        f"manifests/{only.name.replace('0001-', '0002-')}: is not number 1 of the history",
    )
    assert run(["campaign", "seal", str(results)]) == 3
    shutil.rmtree(results / "manifests")
    seal_again(results)
    assert verify_campaign_stage(results, sample=0).differs == (
        "manifests/: has no manifest, manifest.json has no history",
    )


@pytest.mark.parametrize(
    "name",
    [
        "logs/notes.txt",
        "benchmarks/a.json",
        "manifests/notes.json",
        "made/canary/canary.parquet.receipt.json",
        "made/index-0.json",
        "new.receipt.json",
    ],
)
def test_a_file_among_by_products_that_is_none_is_named(results: Path, name: str) -> None:
    (results / name).parent.mkdir(parents=True, exist_ok=True)
    (results / name).write_text("x")
    assert verify_campaign_stage(results, sample=0).differs == (f"not sealed: {name}",)
