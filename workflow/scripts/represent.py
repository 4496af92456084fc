from pathlib import Path

from commcanary.controls.settings import ControlSettings
from commcanary.stages.job import job_log
from commcanary.stages.represent import represent_stage

with job_log(snakemake.log[0]):
    represent_stage(
        *(Path(name) for name in (snakemake.input.trace, snakemake.output.trace)),
        snakemake.params.method,
        ControlSettings(**snakemake.params.settings),
        snakemake.params.configurations,
        **snakemake.params.replay,
    )
