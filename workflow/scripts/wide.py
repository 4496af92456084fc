from pathlib import Path

from commcanary.reporting.wide import write_wide_table
from commcanary.stages.job import job_log

with job_log(snakemake.log[0]):
    write_wide_table(Path(snakemake.input.cells), Path(snakemake.output.wide))
