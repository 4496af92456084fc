"""What the engine's arguments mean before they reach it."""

from __future__ import annotations

from pathlib import Path

import pytest

from commcanary.campaign.engine import engine_environment, is_dry_run


@pytest.mark.parametrize(
    ("arguments", "dry"),
    [
        (["-n"], True),
        (["--dry-run"], True),
        (["--cores", "2", "--dryrun"], True),
        (["-np"], True),
        (["-pn"], True),
        ([], False),
        (["--until", "trace"], False),
        (["--notemp"], False),
        (["-j2"], False),
        (["-C", "name=1"], False),
    ],
)
def test_a_dry_run_is_recognised(arguments: list[str], dry: bool) -> None:
    assert is_dry_run(arguments) is dry


def test_kernels_are_kept_in_the_scratch_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.delenv("COMMCANARY_SCRATCH", raising=False)
    shared = Path(engine_environment(tmp_path)["NUMBA_CACHE_DIR"])
    assert shared.parent == tmp_path / ".snakemake" / ".numba"
    monkeypatch.setenv("COMMCANARY_SCRATCH", str(tmp_path / "local"))
    local = Path(engine_environment(tmp_path)["NUMBA_CACHE_DIR"])
    assert local == tmp_path / "local" / ".numba" / shared.name
