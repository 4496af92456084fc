"""How long a campaign took: a page of its own, because it is no result and differs from run to run."""

from __future__ import annotations

import re
from pathlib import Path

from commcanary.artifacts.files import read_artifact
from commcanary.campaign.layout import job_subjects
from commcanary.campaign.manifest import MANIFEST, plan_of
from commcanary.reporting.benchmarks import read_jobs, seconds_by_rule
from commcanary.reporting.pages import write_page

_BATCH = re.compile(r"\.[0-9]+\Z")
SLOWEST = 8
"""How many of the slowest jobs the page names."""


def write_timings_page(campaign_folder: Path, output: Path) -> None:
    """Write how long the jobs of the campaign in ``campaign_folder`` took, from ``benchmarks/*/*.tsv``, where there.

    Those of an earlier configuration's workloads and representations do not count.
    """
    folder = Path(campaign_folder)
    manifest = read_artifact(folder / "manifest.json", MANIFEST).header
    subjects = set(job_subjects(plan_of(manifest, folder)))
    jobs = [
        job
        for job in read_jobs(folder / "benchmarks", without=("timings",))
        if _BATCH.sub("", job.subject) in subjects or job.subject in subjects
    ]
    write_page(
        output,
        "timings.html.jinja",
        campaign=manifest.campaign,
        jobs=jobs[:SLOWEST],
        rules=seconds_by_rule(jobs),
        job_count=len(jobs),
        total_seconds=sum(job.seconds for job in jobs),
    )
