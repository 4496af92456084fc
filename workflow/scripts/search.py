from pathlib import Path

from commcanary.stages.behavior_search import search_batch_stage
from commcanary.stages.job import job_log

with job_log(snakemake.log[0]):
    search_batch_stage(
        Path(snakemake.input.trace),
        Path(snakemake.output.canary),
        snakemake.params.configurations,
        snakemake.params.tolerances,
        **snakemake.params.replay,
    )
