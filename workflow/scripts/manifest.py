from pathlib import Path

from commcanary.stages.job import job_log
from commcanary.stages.manifest import manifest_stage

with job_log(snakemake.log[0]):
    manifest_stage(Path(snakemake.input.config), Path(snakemake.output.manifest))
