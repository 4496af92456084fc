from pathlib import Path

from commcanary.stages.job import job_log
from commcanary.stages.replay import replay_batch_stage

with job_log(snakemake.log[0]):
    index = Path(snakemake.output.index)
    replay_batch_stage(
        Path(snakemake.input.canary),
        index,
        snakemake.params.configurations,
        code=snakemake.params.code,
        attempt=snakemake.resources.attempt,
        **snakemake.params.replay,
    )
