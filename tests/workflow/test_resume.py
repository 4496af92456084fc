"""Whatever ends a run, the next one ends with the same root as a run that nothing disturbed.

``COMMCANARY_KILLS`` is the number of kills, 5 by default; ``make integrity`` sets 50.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
import yaml

from .runs import ENGINE, RUN, TINY, kill_somewhere, root, run, start_over, started_jobs

KILLS = int(os.environ.get("COMMCANARY_KILLS", "5"))
KILLS_A_RUN = 5


@pytest.mark.parametrize("seed", range(-(-KILLS // KILLS_A_RUN)))
def test_killed_at_seeded_moments_it_resumes_to_the_same_root(seed: int, finished: Path, tmp_path: Path) -> None:
    """Group, head, engine or one job; the last run has one core, the undisturbed one had two."""
    draw = Random(seed)
    folder = tmp_path / "campaign"
    start_over(folder)
    killed = [kill_somewhere(folder, draw) for _ in range(KILLS_A_RUN)]
    code, _ = run(folder, "--cores", "1")
    while code == 3 and "another campaign is running" in _last_error(folder):
        code, _ = run(folder, "--cores", "1")
    assert code == 0, killed
    assert root(folder) == root(finished)
    assert not list((folder / "results" / "tiny").rglob("*.tmp"))


def _last_error(folder: Path) -> str:
    return subprocess.run([*RUN, *ENGINE, "-n"], cwd=folder, capture_output=True, text=True, check=False).stderr


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 160 kB, as only root may mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=160k", "tmpfs", str(disk)], capture_output=True, text=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"no small disk may be mounted here: {mounted.stderr.strip()}")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def remount(disk: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(disk)], check=True)


def test_a_read_only_and_then_a_full_disk_are_refused_and_resumed_from(small_disk: Path, finished: Path) -> None:
    (small_disk / "tiny.yaml").write_bytes(TINY.read_bytes())
    remount(small_disk, "ro")
    refused = subprocess.run([*RUN, *ENGINE], cwd=small_disk, capture_output=True, text=True, check=False)
    assert refused.returncode == 3
    assert "Read-only file system" in refused.stderr
    assert "Traceback" not in refused.stderr
    remount(small_disk, "rw")
    assert run(small_disk)[0] == 3
    results = small_disk / "results" / "tiny"
    assert not (results / "seal.json").exists()
    whole = {path.relative_to(results): path.read_bytes() for path in results.rglob("*.parquet")}
    assert all(data == (finished / "results" / "tiny" / name).read_bytes() for name, data in whole.items())
    remount(small_disk, "size=200m")
    assert run(small_disk)[0] == 0
    assert root(small_disk) == root(finished)


def test_lost_and_damaged_reports_are_made_again_and_nothing_else(copied: Path, finished: Path) -> None:
    reports = copied / "results" / "tiny" / "small" / "canary" / "reports"
    kept = (reports / "baseline.parquet").stat().st_mtime_ns
    (reports / "congested.parquet").write_bytes(b"PAR1")
    assert run(copied)[0] == 0
    (reports / "congested.parquet").unlink()
    assert run(copied)[0] == 0
    assert root(copied) == root(finished)
    assert (reports / "baseline.parquet").stat().st_mtime_ns == kept


def test_a_failed_cell_stops_no_other_and_is_named_at_the_end(tmp_path: Path) -> None:
    """What is unknown without an assumption cannot be replayed: one workload fails, the other goes on."""
    config = yaml.safe_load(TINY.read_text())
    event = {"op": "all_reduce", "bytes": 4096, "ranks": 2, "group": "g", "gap_us": 1.0, "arrival_skew_unknown": True}
    trace = {"format": "commcanary.trace.v1", "workload": {"name": "w"}, "system": {}, "events": [event]}
    (tmp_path / "t.json").write_text(json.dumps(trace))
    config["workloads"].append({"name": "unknown", "source": {"kind": "trace", "path": "t.json"}})
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(config))
    done = subprocess.run([*RUN, *ENGINE], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    results = tmp_path / "results" / "tiny"
    assert (results / "small" / "canary" / "policy.json").is_file()
    assert not (results / "tables").exists()
    last = done.stderr[done.stderr.index("failed: ") :]
    assert "failed: replay unknown.canary.0 (results/tiny/logs/replay/unknown.canary.0.log)\n  commcanary: " in last
    assert "assume: {" in last
    assert started_jobs(tmp_path).count("replay") == 3  # the failed one twice, as the profile's retries say
    assert "attempts failed" in done.stderr
    status = subprocess.run(
        [*RUN[:-2], "status", "results/tiny"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert status.returncode == 1
    assert "4 cells: 2 done, 2 failed, 0 missing, 0 stale" in status.stdout
