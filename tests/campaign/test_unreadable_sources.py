"""Files that no job could read are refused before the engine starts, by configuration file, key and name."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from commcanary.campaign import engine
from commcanary.cli.main import run

from .test_names import config

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOBODY = 65534


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that another user may enter, and be in; an engine that must not start."""

    def started(*_: object) -> int:
        pytest.fail("the engine was started")

    monkeypatch.setattr(engine, "run_engine", started)
    found = Path(tempfile.mkdtemp())
    found.chmod(0o755)
    monkeypatch.chdir(found)
    yield found
    monkeypatch.undo()
    shutil.rmtree(found)


def closed(path: Path) -> None:
    path.write_text("{}")
    path.chmod(0)


BAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty": (lambda path: path.touch(), "the file is empty"),
    "gone": (lambda _path: None, "is not there"),
    "folder": (lambda path: path.mkdir(), "a folder, not a file"),
    "pipe": (lambda path: os.mkfifo(path), "a pipe or device, not a file"),
    "link": (lambda path: path.symlink_to(path), "is not there"),
    "closed": (closed, "Permission denied"),
}
NAMING: dict[str, Callable[[str], dict[str, Any]]] = {
    "workloads[0].source.path": lambda name: {
        **config(),
        "workloads": [{"name": "w", "source": {"kind": "trace", "path": name}}],
    },
    "workloads[0].source.profiles[1]": lambda name: {
        **config(),
        "workloads": [{"name": "w", "source": {"kind": "kineto", "profiles": ["c.yaml", name]}}],
    },
    "workloads[0].source.groups": lambda name: {
        **config(),
        "workloads": [{"name": "w", "source": {"kind": "chakra", "traces": ["c.yaml"], "groups": name}}],
    },
    "overlap[0].source.profiles[0]": lambda name: config(
        overlap=[{"name": "o", "source": {"kind": "kineto", "profiles": [name]}}]
    ),
    "overlap_studies[0].correctness": lambda name: config(
        overlap_studies=[
            {
                "name": "s",
                "compute": ["c.yaml"],
                "communication": ["c.yaml"],
                "overlapped": ["c.yaml"],
                "correctness": name,
            }
        ]
    ),
    "configurations": lambda name: {**config(), "configurations": name},
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("key", NAMING)
@pytest.mark.parametrize("freeze", ["auto", "strict"])
def test_it_is_refused_in_one_line_and_nothing_is_written(
    folder: Path, capsys: pytest.CaptureFixture[str], bad: str, key: str, freeze: str
) -> None:
    make, reason = BAD[bad]
    (folder / "c.yaml").write_text(yaml.safe_dump({**NAMING[key]("source.json"), "freeze": freeze}))
    run(["campaign", "run", "c.yaml"])  # imports what another user may not be able to
    capsys.readouterr()
    make(folder / "source.json")
    there = sorted(folder.iterdir())
    other_user = os.geteuid() == 0 and bad == "closed"
    if other_user:
        os.seteuid(NOBODY)
    try:
        code = run(["campaign", "run", "c.yaml"])
    finally:
        if other_user:
            os.seteuid(0)
    said = capsys.readouterr().err
    assert code == 3
    assert said.count("\n") == 1
    assert said.startswith(f"commcanary: c.yaml: {key}: names source.json")
    assert reason in said
    assert "; " in said  # the remedy
    assert sorted(folder.iterdir()) == there
