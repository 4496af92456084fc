from pathlib import Path

from commcanary.stages.job import job_log
from commcanary.stages.trace import trace_stage

with job_log(snakemake.log[0]):
    files = [Path(name) for name in snakemake.params.files]
    trace_stage(snakemake.wildcards.workload, snakemake.params.source, files, Path(snakemake.output.trace))
