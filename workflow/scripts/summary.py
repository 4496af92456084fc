from pathlib import Path

from commcanary.campaign.plan import Plan
from commcanary.stages.job import job_log
from commcanary.stages.summary import summary_stage

with job_log(snakemake.log[0]):
    tables = Path(snakemake.output.cells).parent
    summary_stage(Plan.load(Path(snakemake.input.config)), tables.parent, tables)
