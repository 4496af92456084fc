"""The logs of a campaign: what the last word of each job was, and where the engine's own log is.

A job's log ends in "done", or says what failed. An empty one is of a job that was killed, or still runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from commcanary.campaign.links import is_own_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LAST_WORD = "done"
_TAIL_BYTES = 2**16
"""How much of a log's end is read for its last lines."""
ENGINE_LOG = "logs/engine.log"
"""All that the engine said in the last run, in the folder of the results."""


@dataclass(frozen=True)
class UnfinishedJob:
    """A job that did not end well: its rule, what it was about, its log and the last lines of it."""

    rule: str
    subject: str
    log: Path
    last_lines: tuple[str, ...]


def last_words(log: Path, count: int = 1) -> list[str]:
    """The last ``count`` lines of a log that are not empty."""
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - _TAIL_BYTES))
        text = stream.read(_TAIL_BYTES).decode("utf-8", "replace")
    return [line.rstrip() for line in text.splitlines() if line.strip()][-count:]


def unfinished_jobs(results: Path, since: float, lines: int = 3) -> Iterator[UnfinishedJob]:
    """Jobs in ``results`` that wrote their log after ``since`` (seconds since the epoch) and did not end well."""
    folder = results / "logs"
    logs = (log for log in folder.rglob("*.log") if log != results / ENGINE_LOG and is_own_file(results, log))
    for log in sorted(logs):
        words = last_words(log, lines)
        if log.stat().st_mtime >= since and words[-1:] != [LAST_WORD]:
            inside = log.relative_to(folder)
            rule, subject = (inside.parent.name, log.stem) if inside.parent.name else (log.stem, "campaign")
            yield UnfinishedJob(rule, subject, log, tuple(words) or ("it left no word: killed",))


def failures(results: Path) -> Iterator[str]:
    """``LOG: its last line`` of every job in ``results`` whose last word is a failure; killed jobs left none."""
    for job in unfinished_jobs(results, 0.0, lines=1):
        if last_words(job.log):
            yield f"{job.log.relative_to(results)}: {job.last_lines[-1]}"
