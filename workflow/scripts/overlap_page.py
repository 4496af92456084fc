from pathlib import Path

from commcanary.reporting.overlap_page import write_page_of
from commcanary.stages.job import job_log

with job_log(snakemake.log[0]):
    write_page_of(Path(snakemake.input.overlap), Path(snakemake.output.page))
