from pathlib import Path

from commcanary.reporting.index_page import write_index_page
from commcanary.stages.job import job_log

with job_log(snakemake.log[0]):
    write_index_page(Path(snakemake.output.index).parent, Path(snakemake.output.index))
