"""How long the jobs of a campaign took: the benchmark files that the engine writes beside the results."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commcanary.artifacts.files import read_bytes
from commcanary.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


@dataclass(frozen=True)
class Job:
    """One job: its rule, what it was about, wall seconds, and its largest resident set in MB where known."""

    rule: str
    subject: str
    seconds: float
    peak_mb: float | None


def read_jobs(folder: Path, without: Iterable[str] = ()) -> tuple[Job, ...]:
    """The jobs in ``folder/RULE/SUBJECT.tsv``, slowest first, except those of the rules ``without``.

    A file without a number of seconds, as a killed job leaves it, is no job.
    """
    skipped = set(without)
    found = (_job(path) for path in sorted(folder.glob("*/*.tsv")) if path.parent.name not in skipped)
    return tuple(sorted((job for job in found if job), key=lambda job: (-job.seconds, job.rule, job.subject)))


def seconds_by_rule(jobs: Iterable[Job]) -> tuple[tuple[str, int, float], ...]:
    """(rule, number of jobs, sum of seconds), largest sum first."""
    sums: dict[str, tuple[int, float]] = {}
    for job in jobs:
        number, seconds = sums.get(job.rule, (0, 0.0))
        sums[job.rule] = (number + 1, seconds + job.seconds)
    return tuple(sorted(((rule, *of) for rule, of in sums.items()), key=lambda row: (-row[2], row[0])))


def _job(path: Path) -> Job | None:
    try:
        text = read_bytes(path).decode("utf-8", "replace")
    except Refusal:
        return None
    rows = list(csv.DictReader(io.StringIO(text), delimiter="\t"))
    seconds = _number(rows[0].get("s")) if rows else None
    if seconds is None:
        return None
    return Job(path.parent.name, path.stem, seconds, _number(rows[0].get("max_rss")))


def _number(text: str | None) -> float | None:
    try:
        return float(text or "")
    except ValueError:
        return None
