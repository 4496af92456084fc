"""A finished tiny campaign, made once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .runs import run, start_over


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a campaign that ran undisturbed on two cores."""
    folder = tmp_path_factory.mktemp("finished") / "campaign"
    start_over(folder)
    code, jobs = run(folder)
    assert code == 0
    assert {"manifest", "trace", "compile", "replay", "compare", "verify", "export", "summary", "page"} <= set(jobs)
    return folder


@pytest.fixture
def copied(finished: Path, tmp_path: Path) -> Path:
    """A copy of it to change."""
    return Path(shutil.copytree(finished, tmp_path / "copy"))
