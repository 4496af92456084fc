"""Any byte of a sealed campaign that is changed, removed or added is named; what was forged with care, too."""

from __future__ import annotations

import hashlib
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commcanary.artifacts.atomic import write_text
from commcanary.artifacts.files import read_artifact, write_artifact
from commcanary.artifacts.stored import Kind, Stored
from commcanary.campaign.manifest import MANIFEST
from commcanary.campaign.seal import SEALS, Seal, SealedFile, seal_of, sums_of
from commcanary.cli.main import run
from commcanary.errors import IntegrityRefusal
from commcanary.judge.comparison import COMPARISON
from commcanary.judge.policy import POLICY_OUTCOME
from commcanary.judge.statistics import DECISIONS
from commcanary.reporting.derivations import reporting_derivations
from commcanary.stages.seal import seal_stage
from commcanary.stages.verify_campaign import CampaignVerification, verify_campaign_stage

FILES_ONLY = 0


def seal(results: Path) -> Seal:
    return read_artifact(results / "seal.json", SEALS).header


def verified(results: Path, sample: int | None = None) -> CampaignVerification:
    return verify_campaign_stage(results, reporting_derivations, sample=sample)


def twin_root(sums: bytes) -> str:
    """The root from ``seal.sha256`` alone, written from docs/how-to/seal-and-verify.md."""

    def top(leaves: list[bytes]) -> bytes:
        if len(leaves) == 1:
            return leaves[0]
        above = []
        while leaves:
            pair, leaves = leaves[:2], leaves[2:]
            above.append(pair[0] if len(pair) == 1 else hashlib.sha256(bytes([1]) + pair[0] + pair[1]).digest())
        return top(above)

    return top([hashlib.sha256(bytes([0]) + line).digest() for line in sums.splitlines(keepends=True)]).hex()


def test_the_honest_campaign_holds_and_everything_in_it_is_derived_again(sealed: Path) -> None:
    found = verified(sealed)
    assert found.differs == ()
    assert found.derived == found.derivable
    assert found.not_derived == ()
    assert found.other_version == ()
    assert found.root == twin_root((sealed / "seal.sha256").read_bytes())


def test_sha256sum_accepts_the_sums_and_they_are_sorted(sealed: Path) -> None:
    checked = subprocess.run(
        ["sha256sum", "--strict", "-c", "seal.sha256"], cwd=sealed, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr
    paths = [line.partition("  ")[2] for line in (sealed / "seal.sha256").read_text().splitlines()]
    assert paths == sorted(paths)
    assert len(paths) == len(seal(sealed).files)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 13])
def test_the_root_is_the_twins_for_any_number_of_files(tmp_path: Path, count: int) -> None:
    for number in range(count):
        (tmp_path / f"f{number:02d}").write_bytes(bytes([number]))
    found = seal_of("c", "m", tmp_path, [path.name for path in tmp_path.iterdir()])
    assert found.merkle_root == twin_root(sums_of(found.files).encode())


def test_clocks_logs_and_timings_are_in_no_seal(sealed: Path) -> None:
    paths = [file.path for file in seal(sealed).files]
    assert not [path for path in paths if "receipt" in path or path.startswith(("logs", "benchmarks"))]
    assert {"manifest.json", "tables/cells.csv", "figures/trust.svg", "report.html"} <= set(paths)


def test_any_byte_changed_is_named(results: Path) -> None:
    """Each file at its first and last byte and at three drawn ones."""
    draw = random.Random(8)
    for file in seal(results).files:
        path = results / file.path
        good = path.read_bytes()
        for at in (0, len(good) - 1, *(draw.randrange(len(good)) for _ in range(3))):
            path.write_bytes(good[:at] + bytes([good[at] ^ (1 << draw.randrange(8))]) + good[at + 1 :])
            assert _named(results, file.path), (file.path, at)
        path.write_bytes(good)
    assert verified(results, FILES_ONLY).differs == ()


def _named(results: Path, path: str) -> bool:
    if path == "manifest.json":  # a manifest that does not hash to its id cannot even be read
        return run(["campaign", "verify", str(results)]) == 3
    found = verified(results, FILES_ONLY).differs
    return found == (f"{path}: changed after the seal",)


@pytest.mark.parametrize("length", [0, 1, -1])
def test_a_file_that_is_cut_is_named(results: Path, length: int) -> None:
    path = results / "tables" / "cells.csv"
    path.write_bytes(path.read_bytes()[:length])
    assert verified(results, FILES_ONLY).differs == ("tables/cells.csv: changed after the seal",)


def test_every_file_removed_is_named(results: Path) -> None:
    for path in sealed_files_but_the_manifest(results):
        (results / path).rename(results.parent / "away")
        assert verified(results, FILES_ONLY).differs == (f"{path}: missing",)
        (results.parent / "away").rename(results / path)


def sealed_files_but_the_manifest(results: Path) -> list[str]:
    return [file.path for file in seal(results).files if file.path != "manifest.json"]


def test_a_file_added_anywhere_is_named(results: Path) -> None:
    for folder in sorted({str(Path(path).parent) for path in sealed_files_but_the_manifest(results)} | {"new/deep"}):
        path = results / folder / "added.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
        name = path.relative_to(results).as_posix()
        assert verified(results, FILES_ONLY).differs == (f"not sealed: {name}",)
        path.unlink()


def test_the_seals_own_fields_and_the_sums_are_checked(results: Path) -> None:
    honest = seal(results)
    forged = SealedFile(honest.files[0].path, honest.files[0].bytes, "0" * 64)
    write_artifact(
        results / "seal.json", SEALS, Stored(Seal("small", honest.manifest, honest.merkle_root, (forged,), ()))
    )
    found = "\n".join(verified(results, FILES_ONLY).differs)
    assert "merkle_root is" in found
    assert "seal.sha256: does not list the files of seal.json" in found
    assert f"{forged.path}: changed after the seal" in found
    assert f"{honest.files[1].path}: expected by the manifest, not in the seal" in found


def reseal(results: Path) -> None:
    """What a forger does who can run the tool but no longer its checks."""
    manifest = read_artifact(results / "manifest.json", MANIFEST).content_id
    again = seal_of("small", manifest, results, [file.path for file in seal(results).files])
    write_artifact(results / "seal.json", SEALS, Stored(again))
    write_text(results / "seal.sha256", sums_of(again.files))


def forge_document(path: str, kind: Kind[Any], **change: Any) -> Callable[[Path], str]:
    def forge(results: Path) -> str:
        header = read_artifact(results / path, kind).header
        write_artifact(results / path, kind, Stored(msgspec.structs.replace(header, **change)))
        return path

    return forge


def forge_report(results: Path) -> str:
    """Another cell's report under this one's name: every digest inside it holds."""
    path = "made/canary/reports/congested.parquet"
    shutil.copy(results / "made/canary/reports/baseline.parquet", results / path)
    return path


def forge_canary(results: Path) -> str:
    path = "made/canary/canary.parquet"
    shutil.copy(results / "made/isolated/canary.parquet", results / path)
    return path


def forge_table(results: Path) -> str:
    path = "tables/cells.parquet"
    table = pq.read_table(results / path)
    column = table.column_names.index("p99_us")
    raised = pa.array([value + 1 for value in table.column("p99_us").to_pylist()])
    pq.write_table(table.set_column(column, table.schema.field("p99_us"), raised), results / path)
    return path


def forge_text(path: str, old: str, new: str) -> Callable[[Path], str]:
    def forge(results: Path) -> str:
        text = (results / path).read_text()
        assert old in text
        (results / path).write_text(text.replace(old, new, 1))
        return path

    return forge


@pytest.mark.parametrize(
    "forge",
    [
        forge_document("made/canary/comparisons/congested.json", COMPARISON, verdict="pass", reasons=()),
        forge_document("made/isolated/policy.json", POLICY_OUTCOME, outcome="fail"),
        forge_document("made/isolated/decisions.json", DECISIONS, false_negatives=1),
        forge_report,
        forge_canary,
        forge_table,
        forge_text("tables/wide.csv", "fail", "pass"),
        forge_text("figures/trust.svg", "</svg>", "<!-- better --></svg>"),
        forge_text("report.html", "fails", "passes"),
    ],
)
def test_what_is_forged_and_sealed_again_is_named_by_deriving_it(
    results: Path, forge: Callable[[Path], str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = forge(results)
    reseal(results)
    assert verified(results, FILES_ONLY).differs == ()
    assert run(["campaign", "verify", str(results)]) == 1
    assert f"\n- {path}: " in capsys.readouterr().out


def test_a_sample_is_drawn_by_its_seed(sealed: Path) -> None:
    found = verify_campaign_stage(sealed, sample=2, seed=5)
    assert (found.derived, found.differs) == (2, ())
    assert found.derivable > 2


def test_an_incomplete_campaign_is_not_sealed(results: Path) -> None:
    before = (results / "seal.json").read_bytes()
    (results / "figures" / "sizes.svg").unlink()
    with pytest.raises(IntegrityRefusal, match=r"figures/sizes\.svg missing"):
        seal_stage(results)
    assert (results / "seal.json").read_bytes() == before
    (results / "made/canary/reports/congested.parquet").unlink()
    with pytest.raises(IntegrityRefusal, match="made/canary/congested is missing"):
        seal_stage(results)


@pytest.mark.parametrize(
    "path",
    ["made/canary/behavior.json", "made/canary/param.json", "expectations.json", "report.html", "tables/wide.csv"],
)
def test_what_does_not_follow_is_not_sealed_by_hand(
    results: Path, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The workflow vouches for what its last rule seals; here nothing does."""
    before = (results / "seal.json").read_bytes()
    data = (results / path).read_bytes()
    (results / path).write_bytes(data[: len(data) // 2])
    assert run(["campaign", "seal", str(results)]) == 3
    said = capsys.readouterr().err
    assert f" do not follow from what lies there: {path}: " in said
    assert said.count("\n") == 1
    assert (results / "seal.json").read_bytes() == before
    (results / path).write_bytes(data)
    assert run(["campaign", "seal", str(results)]) == 0
    assert (results / "seal.json").read_bytes() == before


def test_leftovers_are_set_aside_and_half_files_removed_so_that_the_root_is_that_of_a_fresh_run(
    results: Path, sealed: Path
) -> None:
    left = results / "made/canary/reports/old.parquet"
    left.write_bytes(b"old")
    (results / "made/.canary.parquet.abc.tmp").write_bytes(b"half")
    again = seal_stage(results)
    assert again.merkle_root == seal(sealed).merkle_root
    assert [p.read_bytes() for p in (results / "superseded").rglob("old.parquet")] == [b"old"]
    assert not list(results.rglob("*.tmp"))
    assert verified(results, FILES_ONLY).differs == ()


def test_without_a_seal_there_is_nothing_to_verify(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (results / "seal.json").unlink()
    assert run(["campaign", "verify", str(results)]) == 3
    assert "seal.json: cannot be read" in capsys.readouterr().err
