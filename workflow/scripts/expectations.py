from pathlib import Path

from commcanary.stages.expectations import expectations_stage
from commcanary.stages.job import job_log

with job_log(snakemake.log[0]):
    expectations_stage(Path(snakemake.input.representations), Path(snakemake.output.expectations))
