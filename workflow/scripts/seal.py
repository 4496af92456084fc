from pathlib import Path

from commcanary.stages.job import job_log
from commcanary.stages.seal import seal_stage

with job_log(snakemake.log[0]):
    seal_stage(Path(snakemake.output.seal).parent, Path(snakemake.params.config))
