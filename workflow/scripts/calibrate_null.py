from pathlib import Path

from commcanary.stages.calibrate_null import calibrate_null_stage
from commcanary.stages.job import job_log

with job_log(snakemake.log[0]):
    calibrate_null_stage(
        Path(snakemake.input.canary),
        Path(snakemake.output.calibration),
        snakemake.params.configuration,
        snakemake.params.settings,
        snakemake.params.thresholds,
        model=snakemake.params.model,
        assumptions=snakemake.params.assumptions,
    )
