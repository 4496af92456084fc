"""A file that cannot be read is a difference that names it, beside all others; never the end of a verification."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commcanary.artifacts.atomic import write_text
from commcanary.artifacts.files import read_artifact, write_artifact
from commcanary.artifacts.stored import Stored
from commcanary.campaign.manifest import MANIFEST
from commcanary.campaign.seal import SEALS, seal_of, sums_of
from commcanary.cli.main import run
from commcanary.reporting.derivations import reporting_derivations
from commcanary.stages.verify_campaign import verify_campaign_stage

Damage = Callable[[Path], object]

DAMAGES: dict[str, Damage] = {
    "truncated": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "of another kind": lambda path: path.write_bytes(b'{"format":"commcanary.other.v1"}'),
    "nested deep": lambda path: path.write_bytes(b'{"a":' * 100_000),
    "with NaN": lambda path: path.write_bytes(path.read_bytes()[:40] + b":NaN," + path.read_bytes()[40:]),
    "no text": lambda path: path.write_bytes(b"\xff\x00\xfe" * 9),
    "a table of other rows": lambda path: pq.write_table(pa.table({"x": [float("nan")]}), path),
}


def reseal(results: Path) -> None:
    manifest = read_artifact(results / "manifest.json", MANIFEST).content_id
    files = [file.path for file in read_artifact(results / "seal.json", SEALS).header.files]
    again = seal_of("small", manifest, results, files)
    write_artifact(results / "seal.json", SEALS, Stored(again))
    write_text(results / "seal.sha256", sums_of(again.files))


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_every_damaged_file_has_a_line_of_its_own(results: Path, damage: Damage) -> None:
    """All at once, sealed again: none hides another."""
    sealed = [file.path for file in read_artifact(results / "seal.json", SEALS).header.files]
    damaged = [path for path in sealed if path != "manifest.json"]
    for path in damaged:
        damage(results / path)
    reseal(results)
    found = verify_campaign_stage(results, reporting_derivations).differs
    unnamed = [path for path in damaged if not any(line.startswith(f"{path}: ") for line in found)]
    assert unnamed == []


@pytest.mark.parametrize(
    "path", ["made/trace.parquet", "made/canary/canary.parquet", "made/canary/behavior.json", "tables/cells.parquet"]
)
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_one_unreadable_file_does_not_hide_another(
    results: Path, path: str, damage: Damage, capsys: pytest.CaptureFixture[str]
) -> None:
    damage(results / path)
    (results / "report.html").write_text("<p>all is well</p>")
    reseal(results)
    assert run(["campaign", "verify", str(results)]) == 1
    said = capsys.readouterr()
    assert said.err == ""
    assert f"\n- {path}: " in said.out
    assert "\n- report.html: " in said.out


def test_a_file_larger_than_an_input_may_be_is_named(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = results / "made/canary/decisions.json"
    os.truncate(path, 2**40)
    assert run(["campaign", "verify", str(results), "--sample", "1", "--seed", "1"]) == 1
    assert "\n- made/canary/decisions.json: changed after the seal" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["manifest.json", "seal.json"])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_without_a_readable_manifest_or_seal_there_is_nothing_to_verify(
    results: Path, name: str, damage: Damage, capsys: pytest.CaptureFixture[str]
) -> None:
    damage(results / name)
    assert run(["campaign", "verify", str(results)]) == 3
    said = capsys.readouterr().err
    assert said.startswith(f"commcanary: {results / name}: ")
    assert said.count("\n") == 1
