from pathlib import Path

from commcanary.compile.compiler import CompileSettings
from commcanary.stages.compile import compile_stage
from commcanary.stages.job import job_log

with job_log(snakemake.log[0]):
    settings = CompileSettings(**snakemake.params.timing)
    compile_stage(Path(snakemake.input.trace), Path(snakemake.output.canary), settings)
