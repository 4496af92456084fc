"""A short campaign on a real Slurm: the head killed half-way, a node set down, and still the root of a quiet run."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.workflow.runs import RUN, engine_log, engine_words, root, run, start_over

from .slurm import Slurm, missing

pytest.importorskip("snakemake_executor_plugin_slurm", reason="the extra slurm is not installed")

WALL_SECONDS = 540
"""Nothing waits longer than this: a job that can never be placed would wait for ever."""


@pytest.fixture
def slurm(tmp_path: Path) -> Iterator[Slurm]:
    reason = missing()
    if reason:
        pytest.skip(reason)
    started = Slurm.start(tmp_path / "slurm")
    yield started
    started.stop()


def start(folder: Path, slurm: Slurm, **environment: str) -> subprocess.Popen[bytes]:
    with (folder / "output.txt").open("ab") as stream:
        return subprocess.Popen(
            [*RUN, "--profile", "slurm"],
            cwd=folder,
            env={**slurm.environment, **environment},
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def wait_until(ready: Callable[[], bool], until: float, what: str) -> None:
    while not ready():
        assert time.monotonic() < until, what
        time.sleep(0.3)


def test_a_campaign_on_slurm_survives_its_head_and_a_node(slurm: Slurm, tmp_path: Path) -> None:
    until = time.monotonic() + WALL_SECONDS
    quiet, folder = tmp_path / "quiet", tmp_path / "campaign"
    start_over(quiet)
    assert run(quiet)[0] == 0
    start_over(folder)
    results = folder / "results" / "tiny" / "small"
    head = start(folder, slurm)
    wait_until((results / "canary" / "canary.parquet").exists, until, engine_words(folder))
    time.sleep(1)
    os.killpg(head.pid, signal.SIGKILL)
    head.wait()
    engine_log(folder).unlink()
    head = start(folder, slurm, COMMCANARY_SCRATCH=str(tmp_path / "scratch"))
    try:
        wait_until(lambda: "submitted" in engine_words(folder), until, engine_words(folder))
        slurm.set_node("node1", "down")
        wait_until((results / "canary" / "policy.json").exists, until, engine_words(folder))
        slurm.set_node("node1", "resume")
        code = head.wait(timeout=until - time.monotonic())
        if code == 3:  # a job that died with its node more often than retries say
            code = start(folder, slurm).wait(timeout=until - time.monotonic())
        assert code == 0, engine_words(folder)[-3000:]
    finally:
        if head.poll() is None:
            os.killpg(head.pid, signal.SIGKILL)
    assert root(folder) == root(quiet)
    assert list((tmp_path / "scratch").rglob("*.nbc")), "kernels are compiled into the scratch folder"
