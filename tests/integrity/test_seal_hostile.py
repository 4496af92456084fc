"""A seal that names files elsewhere packs and hashes none of them, whatever it calls them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from commcanary.artifacts.atomic import write_text
from commcanary.artifacts.canonical import canonical_json
from commcanary.artifacts.files import read_artifact, write_artifact
from commcanary.artifacts.stored import Stored
from commcanary.campaign.manifest import MANIFEST
from commcanary.campaign.seal import SEALS, SealedFile, root_of, sums_of
from commcanary.cli.main import run
from commcanary.stages.verify_campaign import verify_campaign_stage


def export(results: Path) -> int:
    crate = ["-o", str(results.parent / "c.zip"), "--license", "https://example.org/l"]
    return run(["campaign", "export-crate", str(results), *crate])


def forge(results: Path, key: str, path: str, data: bytes) -> None:
    """A document right in itself that lists ``path`` with the digest of ``data``, as no class of ours would."""
    document = json.loads((results / "seal.json").read_bytes())
    del document["content_id"]
    entry = {"path": path, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    document[key] = sorted([*document[key], entry], key=lambda file: str(file["path"]).encode())
    (results / "seal.json").write_bytes(canonical_json(document))


@pytest.mark.parametrize("key", ["files", "history"])
@pytest.mark.parametrize(
    "path",
    [
        "../../secret",
        "../secret",
        "/etc/hostname",
        "tables/../../secret",
        "./report.html",
        "tables//cells.csv",
        "tables/",
        "",
        "..",
        "..\\secret",
        "C:/secret",
        "a\0b",
        "a\nb",
        "report.html\n",
        "~/secret",
        "\u202ereport.html",
    ],
)
def test_a_path_that_could_lead_out_is_no_path_of_a_seal(
    results: Path, key: str, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (results.parent / "secret").write_bytes(b"secret")
    forge(results, key, path, b"secret")
    for command in (lambda: run(["campaign", "verify", str(results)]), lambda: export(results)):
        assert command() == 3
        said = capsys.readouterr().err
        assert said.startswith(f"commcanary: {results / 'seal.json'}: {key}[")
        assert "is none that a campaign writes" in said
        assert said.count("\n") == 1
    assert not (results.parent / "c.zip").exists()


def reseal(results: Path, change: Callable[[tuple[SealedFile, ...]], tuple[SealedFile, ...]]) -> None:
    seal = read_artifact(results / "seal.json", SEALS).header
    files = tuple(sorted(change(seal.files), key=lambda file: file.path.encode()))
    seal = msgspec.structs.replace(seal, files=files, merkle_root=root_of(files))
    write_artifact(results / "seal.json", SEALS, Stored(seal))
    write_text(results / "seal.sha256", sums_of(seal.files))


def listed(results: Path, path: str) -> SealedFile:
    data = (results / path).read_bytes()
    return SealedFile(path, len(data), hashlib.sha256(data).hexdigest())


def test_a_file_that_the_manifest_does_not_expect_is_not_packed(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (results / "notes.txt").write_bytes(b"secret")
    reseal(results, lambda files: (*files, listed(results, "notes.txt")))
    assert export(results) == 3
    assert "seal.json: notes.txt: is in the seal, not expected by the manifest; see" in capsys.readouterr().err
    reseal(results, lambda files: tuple(file for file in files if file.path not in ("notes.txt", "report.html")))
    assert export(results) == 3
    assert "seal.json: report.html: is not in the seal; see commcanary campaign verify" in capsys.readouterr().err
    assert not (results.parent / "c.zip").exists()


def test_history_is_what_manifests_holds(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seal = read_artifact(results / "seal.json", SEALS).header
    (results / "logs").mkdir()
    (results / "logs" / "a.log").write_bytes(b"secret")
    history = (listed(results, "logs/a.log"), *seal.history)
    write_artifact(results / "seal.json", SEALS, Stored(msgspec.structs.replace(seal, history=history)))
    assert verify_campaign_stage(results, sample=0).differs == ("logs/a.log: is no manifest of the history",)
    assert export(results) == 3
    assert "logs/a.log: is no manifest of the history; see" in capsys.readouterr().err


@pytest.mark.parametrize("order", [lambda files: files[::-1], lambda files: (files[0], *files)])
def test_paths_stand_once_and_in_order(results: Path, order: Any, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads((results / "seal.json").read_bytes())
    document["files"] = order(tuple(document["files"]))
    del document["content_id"]
    (results / "seal.json").write_bytes(canonical_json(document))
    assert run(["campaign", "verify", str(results)]) == 3
    assert "paths are sorted, each once" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["report.html", "tables", "timings.html", "seal.sha256.sig"])
def test_a_link_out_of_the_campaign_is_not_packed(results: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    aside = results.parent / "aside"
    if (results / name).exists():
        (results / name).rename(aside)
    else:
        aside.write_bytes(b"secret")
    (results / name).symlink_to(aside)
    assert export(results) == 3
    assert "is a link out of the campaign; put the file itself there" in capsys.readouterr().err
    found = verify_campaign_stage(results, sample=0).differs
    if name in ("report.html", "tables"):
        assert any(line.startswith(name) and line.endswith("is a link out of the campaign") for line in found), found
    assert run(["campaign", "seal", str(results)]) == 3


def test_the_folder_of_the_campaign_may_be_a_link(results: Path) -> None:
    link = results.parent / "link"
    link.symlink_to(results)
    assert verify_campaign_stage(link, sample=0).differs == ()
    assert export(link) == 0


def test_a_crate_is_called_as_its_configuration_says(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = read_artifact(results / "manifest.json", MANIFEST).header
    forged = msgspec.structs.replace(manifest, campaign="../../../out")
    write_artifact(results / "manifest.json", MANIFEST, Stored(forged))
    reseal(results, lambda files: tuple(listed(results, file.path) for file in files))
    assert export(results) == 3
    assert "manifest.json: campaign: is '../../../out', its configuration gives 'small'" in capsys.readouterr().err
