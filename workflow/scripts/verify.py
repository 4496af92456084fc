from pathlib import Path

from commcanary.stages.job import job_log
from commcanary.stages.verify_behavior import verify_batch_stage

with job_log(snakemake.log[0]):
    verify_batch_stage(
        Path(snakemake.input.trace),
        Path(snakemake.input.canary),
        Path(snakemake.output.behavior),
        snakemake.params.configurations,
        snakemake.params.tolerances,
        **snakemake.params.replay,
    )
