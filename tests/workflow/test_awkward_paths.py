"""Files, configurations and folders may be called anything: no name is read as a pattern by the engine or a shell."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from commcanary.cli.main import run

from .runs import ENGINE, RUN, TINY

ROOT = Path(__file__).parents[2]
AWKWARD = "-a{0} {workload} $HOME ~ *[b]? 'q\" &x;"


def test_a_campaign_runs_where_every_name_is_awkward(tmp_path: Path) -> None:
    folder = tmp_path / AWKWARD.replace("{", "").replace("}", "")
    (folder / AWKWARD).mkdir(parents=True)
    names = [f"{AWKWARD}{rank}.json.gz" for rank in range(2)]
    for rank, name in enumerate(names):
        shutil.copy(ROOT / "resources" / "one_job" / f"rank{rank}.pt.trace.json.gz", folder / AWKWARD / name)
    source = {"kind": "kineto", "profiles": names, "clock": "shared"}
    document = {
        "campaign": "tiny",
        "configurations": [{"name": "baseline"}],
        "representations": [{"name": "canary", "method": "canary"}],
        "workloads": [{"name": "w", "source": source}],
        "overlap": [{"name": "o", "source": source}],
    }
    config = folder / AWKWARD / f"{AWKWARD}.yaml"
    config.write_text(yaml.safe_dump(document))
    command = [*RUN[:-1], str(config), *ENGINE, "--until", "trace", "overlap", "manifest"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    results = folder / "results" / "tiny"
    assert (results / "w" / "trace.parquet").is_file()
    assert (results / "overlap" / "o.json").is_file()
    assert (results / "manifest.json").is_file()


def test_a_working_folder_that_the_engine_reads_as_a_pattern_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "a{0}"
    folder.mkdir()
    shutil.copy(TINY, tmp_path)
    monkeypatch.chdir(folder)
    assert run(["campaign", "run", "../tiny.yaml"]) == 3
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert f"{folder}: has a {{ in its path" in said
    assert "run in another folder" in said
    assert list(folder.iterdir()) == []
