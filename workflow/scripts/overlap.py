from pathlib import Path

from commcanary.stages.job import job_log
from commcanary.stages.overlap import overlap_entry_stage

with job_log(snakemake.log[0]):
    overlap_entry_stage(
        snakemake.params.entry,
        [Path(name) for name in snakemake.params.files],
        Path(snakemake.output.overlap),
        [Path(name) for name in snakemake.input.before],
    )
