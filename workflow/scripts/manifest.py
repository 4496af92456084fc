from pathlib import Path

from commcanary.campaign.freeze import load_as_started
from commcanary.stages.job import job_log
from commcanary.stages.manifest import manifest_stage

with job_log(snakemake.log[0]):
    plan = load_as_started(Path(snakemake.params.config), snakemake.params.plan)
    manifest_stage(plan, Path(snakemake.output.manifest))
