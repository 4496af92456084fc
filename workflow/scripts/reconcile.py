from pathlib import Path

from commcanary.stages.job import job_log
from commcanary.stages.reconcile import reconcile_stage

with job_log(snakemake.log[0]):
    reconcile_stage(
        [Path(name) for name in snakemake.input.traces],
        Path(snakemake.output.reconciliation),
        snakemake.params.names,
    )
