from pathlib import Path

from commcanary.reporting.figures import draw_figures
from commcanary.stages.job import job_log

with job_log(snakemake.log[0]):
    tables = Path(snakemake.input.cells).parent
    draw_figures(tables, Path(snakemake.output[0]).parent)
