"""Fixtures that every room's tests may use."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared_traces() -> Path:
    """Real profiles that lie beside the repository and are not part of it."""
    folder = ROOT.parent / "shared" / "traces"
    if not folder.is_dir():
        pytest.skip("the real profiles in ../shared/traces are not on this machine")
    return folder


@pytest.fixture(scope="session")
def gloo_ddp() -> list[Path]:
    """The two profiles of the gloo job that the repository holds."""
    folder = ROOT / "resources" / "gloo_ddp"
    return [folder / "rank0.pt.trace.json.gz", folder / "rank1.pt.trace.json.gz"]
