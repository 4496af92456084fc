"""What a campaign's progress says, for logs as the engine writes them."""

from __future__ import annotations

import os
import pty
import select
import sys

import pytest

from commcanary.cli.engine_progress import EngineProgress

STATS = [
    "Job stats:",
    "job        count",
    "-------  -------",
    "replay         19",
    "all             1",
    "total          20",
]


def job(number: int) -> list[str]:
    return [f"Finished jobid: {number} (Rule: replay)", f"{number} of 20 steps ({5 * number}%) done"]


def said(lines: list[str], capfd: pytest.CaptureFixture[str]) -> list[str]:
    with EngineProgress("campaign x") as progress:
        for line in lines:
            progress.watch(line)
    return capfd.readouterr().err.splitlines()


def test_a_line_for_every_tenth_of_the_jobs(capfd: pytest.CaptureFixture[str]) -> None:
    lines = said([*STATS, *(line for number in range(1, 21) for line in job(number))], capfd)
    assert lines == [f"campaign x: {done} of 20 jobs done" for done in range(0, 21, 2)]


def test_failed_attempts_are_told_at_once_and_counted(capfd: pytest.CaptureFixture[str]) -> None:
    failed = ["Error in rule replay:", "    jobid: 3", "Trying to restart job 3."]
    lines = said([*STATS, *failed, *job(2), *failed], capfd)
    assert lines[1:] == [
        "campaign x: 0 of 20 jobs done, 1 attempt failed",
        "campaign x: 2 of 20 jobs done, 1 attempt failed",
        "campaign x: 2 of 20 jobs done, 2 attempts failed",
    ]


def test_nothing_to_run_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    lines = said(["Nothing to be done (all requested files are present and up to date)."], capfd)
    assert lines == ["campaign x: nothing to run, everything is up to date"]


def test_the_last_lines_that_say_something_are_kept() -> None:
    with EngineProgress("campaign x") as progress:
        for line in ("one", "", "  two", "three", "   ", "four"):
            progress.watch(line)
    assert progress.last_lines == ("two", "three", "four")


def test_a_terminal_shows_one_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        with EngineProgress("campaign x") as progress:
            for line in [*STATS, *job(7), "Error in rule replay:"]:
                progress.watch(line)
        terminal.flush()
        shown = b""
        while select.select([master], [], [], 1)[0]:  # a terminal gives what it has, not all at once
            shown += os.read(master, 4096)
    os.close(master)
    assert "7 of 20 jobs, 1 attempt failed" in shown.decode()
    assert "20 jobs done" not in shown.decode()
