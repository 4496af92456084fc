"""How long a campaign took: a page of its own, because it is no result and differs from run to run."""

from __future__ import annotations

from pathlib import Path

from commcanary.artifacts.files import read_artifact
from commcanary.campaign.manifest import MANIFEST
from commcanary.reporting.benchmarks import read_jobs, seconds_by_rule
from commcanary.reporting.pages import write_page

SLOWEST = 8
"""How many of the slowest jobs the page names."""


def write_timings_page(campaign_folder: Path, output: Path) -> None:
    """Write how long the jobs of the campaign in ``campaign_folder`` took, from ``benchmarks/*/*.tsv``, where there."""
    folder = Path(campaign_folder)
    jobs = read_jobs(folder / "benchmarks", without=("timings",))
    write_page(
        output,
        "timings.html.jinja",
        campaign=read_artifact(folder / "manifest.json", MANIFEST).header.campaign,
        jobs=jobs[:SLOWEST],
        rules=seconds_by_rule(jobs),
        job_count=len(jobs),
        total_seconds=sum(job.seconds for job in jobs),
    )
