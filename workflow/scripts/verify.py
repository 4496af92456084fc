from pathlib import Path

from commcanary.stages.verify_behavior import verify_batch_stage

from commcanary.stages.job import job_log

with job_log(snakemake.log[0]):
    verify_batch_stage(
        Path(snakemake.input.trace),
        Path(snakemake.input.canary),
        Path(snakemake.output.behavior),
        snakemake.params.configurations,
        snakemake.params.tolerances,
        **snakemake.params.replay,
    )
