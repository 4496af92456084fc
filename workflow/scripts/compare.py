from pathlib import Path

from commcanary.stages.compare import compare_batch_stage
from commcanary.stages.job import job_log

with job_log(snakemake.log[0]):
    compare_batch_stage(
        Path(snakemake.input.indexes[0]).parent,
        snakemake.params.configurations,
        Path(snakemake.output.index),
        snakemake.params.baseline,
        snakemake.params.thresholds,
        confidence=snakemake.params.confidence,
    )
