from pathlib import Path

from commcanary.stages.job import job_log
from commcanary.stages.overlap_study import overlap_study_entry_stage

with job_log(snakemake.log[0]):
    overlap_study_entry_stage(
        snakemake.params.entry, [Path(name) for name in snakemake.params.files], Path(snakemake.output.study)
    )
