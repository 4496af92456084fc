from pathlib import Path

from commcanary.stages.represent import represent_stage

from commcanary.artifacts.jsontext import convert
from commcanary.campaign.config import Representation
from commcanary.stages.job import job_log

with job_log(snakemake.log[0]):
    represent_stage(
        Path(snakemake.input.trace),
        Path(snakemake.output.trace),
        convert(snakemake.params.representation, Representation),
        **snakemake.params.replay,
    )
