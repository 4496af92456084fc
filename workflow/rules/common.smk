import re
from pathlib import Path

import msgspec
from snakemake.exceptions import WorkflowError

from commcanary.campaign.config_file import config_files
from commcanary.campaign.plan import Plan
from commcanary.campaign.provenance import code_digest, source_digest
from commcanary.errors import CommCanaryError

CONFIG_FILE = Path(workflow.configfiles[-1])

try:
    PLAN = Plan.load(CONFIG_FILE)
except CommCanaryError as refusal:
    raise WorkflowError(str(refusal)) from None

RESULTS = f"results/{PLAN.name}"


wildcard_constraints:
    workload="|".join(re.escape(name) for name in PLAN.workloads),
    representation="[^/]+",
    batch=r"\d+",


def plain(value):
    """Typed settings as plain data: what Snakemake compares to decide whether a job runs again."""
    return msgspec.to_builtins(value)


def reports_of(wildcards):
    """The replay indexes of one representation of one workload."""
    batches = range(len(PLAN.batches(wildcards.workload)))
    folder = f"{RESULTS}/{wildcards.workload}/{wildcards.representation}"
    return [f"{folder}/reports/index-{batch}.json" for batch in batches]


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
    return {
        "protocol": plain(PLAN.protocol(wildcards.workload)),
        "model": PLAN.config.replay.model,
        "assumptions": PLAN.workload(wildcards.workload).assume,
    }


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
    return {
        "baseline": PLAN.baseline(wildcards.workload),
        "thresholds": plain(PLAN.config.thresholds),
        "confidence": PLAN.config.confidence,
        "tie_us": PLAN.config.tolerances.ranking_tie_us,
        "policy": plain(PLAN.config.policy),
    }
