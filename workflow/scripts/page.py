from pathlib import Path

from commcanary.reporting.campaign_page import write_campaign_page
from commcanary.stages.job import job_log

with job_log(snakemake.log[0]):
    write_campaign_page(Path(snakemake.output.page).parent, Path(snakemake.output.page))
