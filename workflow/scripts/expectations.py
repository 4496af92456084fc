from pathlib import Path

from commcanary.stages.expectations import expectations_stage
from commcanary.stages.job import job_log

with job_log(snakemake.log[0]):
    expectations_stage(
        *(Path(name) for name in (snakemake.input.representations, snakemake.input.calibrations)),
        Path(snakemake.output.expectations),
    )
