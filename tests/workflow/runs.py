"""Campaigns started as a user starts them, watched and killed."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

from commcanary.artifacts.files import read_artifact
from commcanary.campaign.logs import ENGINE_LOG
from commcanary.campaign.seal import SEALS

TINY = Path(__file__).with_name("tiny.yaml")
RUN = [sys.executable, "-c", "from commcanary.cli.main import main; main()", "campaign", "run", "tiny.yaml"]
ENGINE = ["--", "--cores", "2"]
KINDS = ("group", "head", "engine", "job")


def run(folder: Path, *more: str) -> tuple[int, list[str]]:
    """Exit code and the rules of the jobs that ran; ``more`` goes to the engine."""
    engine_log(folder).unlink(missing_ok=True)
    done = subprocess.run([*RUN, *ENGINE, *more], cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, started_jobs(folder)


def engine_log(folder: Path) -> Path:
    """Where the engine of the campaign in ``folder`` logs its last run."""
    return folder / "results" / "tiny" / ENGINE_LOG


def engine_words(folder: Path) -> str:
    """All that the engine logged so far in its last run."""
    log = engine_log(folder)
    return log.read_text() if log.exists() else ""


def started_jobs(folder: Path) -> list[str]:
    """The rules of the jobs that the engine started in its last run."""
    return re.findall(r"^(?:local)?rule (\w+):", engine_words(folder), re.MULTILINE)


def root(folder: Path) -> str:
    """The Merkle root of a finished campaign."""
    return read_artifact(folder / "results" / "tiny" / "seal.json", SEALS).header.merkle_root


def kill_somewhere(folder: Path, draw: Random) -> str:
    """Start the campaign in ``folder`` and kill something of it at a drawn moment; what was killed.

    ``group``: everything at once. ``head``: the command and the engine, while jobs live on. ``engine``: the
    engine under the command. ``job``: one job, and everything a moment later.
    """
    kind, finished, delay = draw.choice(KINDS), draw.randrange(4), draw.uniform(0, 0.8)
    engine_log(folder).unlink(missing_ok=True)
    with (folder / "output.txt").open("w") as stream:
        process = subprocess.Popen(
            [*RUN, *ENGINE], cwd=folder, stdout=stream, stderr=subprocess.STDOUT, start_new_session=True
        )
    _wait(process, lambda: engine_words(folder).count("Finished jobid") >= finished)
    time.sleep(delay)
    if kind == "job":
        _wait(process, lambda: bool(_jobs(process.pid)))
        for job in _jobs(process.pid)[:1]:
            _kill(job)
        time.sleep(delay)
    if kind in {"head", "engine"}:
        for child in _descendants(process.pid, "snakemake"):
            if not _is_job(child):
                _kill(child)
    if kind == "head":
        _kill(process.pid)
    if kind in {"group", "job"}:
        _kill_group(process.pid)
    process.wait(timeout=60)
    return kind


def start_over(folder: Path) -> None:
    """An empty folder with the tiny campaign's configuration."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(TINY, folder)


def _wait(process: subprocess.Popen[bytes], ready, seconds: float = 60) -> None:  # type: ignore[no-untyped-def]
    until = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < until and not ready():
        time.sleep(0.02)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _jobs(pid: int) -> list[int]:
    return [child for child in _descendants(pid, "scripts") if _is_job(child)]


def _is_job(pid: int) -> bool:
    return ".snakemake/scripts" in _command(pid)


def _descendants(pid: int, word: str) -> list[int]:
    """Processes under ``pid`` whose command line has ``word``."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found, waiting = [], [pid]
    while waiting:
        above = waiting.pop()
        below = [child for child, parent in parents.items() if parent == above]
        found += below
        waiting += below
    return [child for child in found if word in _command(child)]


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").replace("\0", " ")
    except OSError:
        return ""
