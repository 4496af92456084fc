from pathlib import Path

from commcanary.stages.ablate import ablate_stage
from commcanary.stages.job import job_log

with job_log(snakemake.log[0]):
    ablate_stage(
        *(Path(name) for name in (snakemake.input.trace, snakemake.output.costs)),
        snakemake.params.ablations,
        snakemake.params.configurations,
        snakemake.params.tolerances,
        **snakemake.params.replay,
    )
