from pathlib import Path

from commcanary.stages.decide import decide_stage
from commcanary.stages.job import job_log

with job_log(snakemake.log[0]):
    decide_stage(
        *(Path(name) for name in (snakemake.input.trace, snakemake.input.canary, *snakemake.output)),
        snakemake.wildcards.representation,
        snakemake.params.configurations,
        **snakemake.params.judged,
        **snakemake.params.replay,
    )
