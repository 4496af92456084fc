from pathlib import Path

from commcanary.stages.summary import summary_stage

from commcanary.stages.job import job_log

with job_log(snakemake.log[0]):
    summary_stage(
        Path(snakemake.params.config_file), Path(snakemake.params.results), Path(snakemake.output.cells).parent
    )
