from pathlib import Path

from commcanary.reporting.timings_page import write_timings_page
from commcanary.stages.job import job_log

with job_log(snakemake.log[0]):
    write_timings_page(Path(snakemake.output.page).parent, Path(snakemake.output.page))
