import os
import re
from glob import glob
from pathlib import Path

import msgspec
from snakemake.exceptions import WorkflowError

from commcanary.campaign.environment import locked_environment
from commcanary.campaign.layout import FIGURES, sealed_files
from commcanary.campaign.plan import Plan
from commcanary.campaign.provenance import code_digest, code_digests
from commcanary.campaign.receipts import file_sha256
from commcanary.errors import CommCanaryError
from commcanary.stages.manifest import check_freeze

CONFIG_FILE = Path(os.path.relpath(workflow.configfiles[-1]))

# Configurations per replay job: the profile's, because it is about machines and changes no result.
BATCH_SIZE = int(config.get("batch_size", 64))

try:
    PLAN = Plan.load(CONFIG_FILE)
    RESULTS = f"results/{PLAN.name}"
    if workflow.is_main_process:
        check_freeze(PLAN, Path(RESULTS))
except CommCanaryError as refusal:
    raise WorkflowError(str(refusal)) from None


wildcard_constraints:
    workload="|".join(re.escape(name) for name in PLAN.workloads),
    representation="[^/]+",
    batch=r"\d+",
    job="|".join(re.escape(name) for name in PLAN.reconciliations) or "(?!)",
    measurement="|".join(re.escape(name) for name in PLAN.overlaps) or "(?!)",
    study="|".join(re.escape(name) for name in PLAN.studies) or "(?!)",


def plain(value):
    """Typed settings as plain data: what Snakemake compares to decide whether a job runs again."""
    return msgspec.to_builtins(value)


def names(files):
    """Paths as text. Files from outside are params, not inputs: a brace in an input would be a wildcard's."""
    return [str(path) for path in files]


def digests(files):
    """SHA-256 of source files: a changed one is noticed whatever its modification time."""
    try:
        return [file_sha256(path) for path in files]
    except CommCanaryError as refusal:
        raise WorkflowError(str(refusal)) from None


def config_file(wildcards):
    """The configuration: a param, not an input, as it counts by what it resolves to."""
    return str(CONFIG_FILE)


def sources_of(wildcards):
    """The files that a workload's trace is made from."""
    return PLAN.source_files(wildcards.workload)


def before_of(wildcards):
    """The document of the measurement that this one is compared against, if any."""
    base = PLAN.overlap(wildcards.measurement).against
    return [] if base is None else [f"{RESULTS}/overlap/{base}.json"]


def reports_of(wildcards):
    """The replay indexes of one representation of one workload."""
    batches = range(len(PLAN.batches(wildcards.workload, BATCH_SIZE)))
    folder = f"{RESULTS}/{wildcards.workload}/{wildcards.representation}"
    return [f"{folder}/reports/index-{batch}.json" for batch in batches]


def is_output(path):
    """Whether a sealed file is a rule's output; reports and comparisons are written beside their indexes."""
    folder, name = Path(path).parent.name, Path(path).name
    return folder != "reports" and (folder != "comparisons" or name == "index.json")


def growing(mb, mb_per_input_mb, minutes, minutes_per_input_mb, sources=lambda wildcards: ()):
    """Memory and time of a job that grow with the size of its input files; a cluster's scheduler asks for them.

    ``sources`` are the files from outside that it reads beside its inputs.
    """

    def size_mb(wildcards, input):
        return input.size_mb + sum(path.stat().st_size for path in sources(wildcards)) / 2**20

    return {
        "mem_mb": lambda wildcards, input: int(mb + mb_per_input_mb * size_mb(wildcards, input)),
        "runtime": lambda wildcards, input: int(minutes + minutes_per_input_mb * size_mb(wildcards, input)),
    }


def everywhere(pattern, only=lambda representation: True):
    """``pattern`` for every workload and each of its representations that ``only`` admits."""
    return [
        f"{RESULTS}/{workload}/{representation.name}/{pattern}"
        for workload in PLAN.workloads
        for representation in PLAN.representations(workload)
        if only(representation)
    ]


def method_of(wildcards):
    """How a representation is made: ``canary``, or the control's method."""
    return PLAN.representation(wildcards.workload, wildcards.representation).method


def replay_settings(wildcards):
    """Model, protocol and assumptions of a workload's cells."""
    return PLAN.replay_settings(wildcards.workload)


def representations_by(wanted):
    """A pattern of the representations made by a ``wanted`` method; it matches nothing where there are none."""
    names = [re.escape(name) for name, method in PLAN.methods().items() if wanted(method)]
    return "|".join(names) or "(?!)"


def compiled_from(wildcards):
    """The workload's trace for the canary itself, the control's trace for a control. A search has its own rule."""
    if method_of(wildcards) == "canary":
        return f"{RESULTS}/{wildcards.workload}/trace.parquet"
    return f"{RESULTS}/{wildcards.workload}/{wildcards.representation}/control.parquet"


def decision_settings(wildcards):
    """What the decisions of a representation are made and judged by."""
    return PLAN.decision_settings(wildcards.workload)
