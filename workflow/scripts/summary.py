from pathlib import Path

from commcanary.campaign.freeze import load_as_started
from commcanary.stages.job import job_log
from commcanary.stages.summary import summary_stage

with job_log(snakemake.log[0]):
    tables = Path(snakemake.output.cells).parent
    summary_stage(load_as_started(Path(snakemake.params.config), snakemake.params.plan), tables.parent, tables)
