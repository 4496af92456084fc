from pathlib import Path

from commcanary.stages.export_param import export_param_stage
from commcanary.stages.job import job_log

with job_log(snakemake.log[0]):
    export_param_stage(
        Path(snakemake.input.canary),
        Path(snakemake.output.param),
        dtype=snakemake.params.dtype,
        skip_unsupported=snakemake.params.skip_unsupported,
        may_be_empty=True,
    )
