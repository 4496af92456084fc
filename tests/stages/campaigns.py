"""A small campaign made to the end by its stages, without the workflow engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import yaml

from commcanary.campaign.plan import Plan
from commcanary.campaign.provenance import code_digest
from commcanary.reporting.derivations import reporting_derivations
from commcanary.stages.derivations import derivations
from commcanary.stages.manifest import manifest_stage
from commcanary.stages.replay import replay_batch_stage

if TYPE_CHECKING:
    from pathlib import Path

CONFIG: dict[str, Any] = {
    "campaign": "small",
    "configurations": [{"name": "baseline"}, {"name": "congested", "bandwidth_gbps": 28, "compute_pressure": 0.95}],
    "representations": [{"name": "canary", "method": "canary"}, {"name": "isolated", "method": "isolated"}],
    "ablation_costs": ["arrival_skew"],
    "workloads": [
        {
            "name": "made",
            "source": {"kind": "synth", "name": "inference", "seed": 3, "events": 66},
            "expect": {"canary": "behaviorally_verified"},
        }
    ],
}


def write_config(folder: Path, config: dict[str, Any] = CONFIG) -> Path:
    path = folder / "small.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


def make_campaign(results: Path, config: Path) -> Plan:
    """Everything that the workflow makes of ``config`` but the seal; the plan."""
    plan = Plan.load(config)
    manifest_stage(plan, results / "manifest.json")
    for derivation in (*derivations(plan), *reporting_derivations(plan)):
        name = derivation.outputs[0]
        derivation.make(results, results)
        if name.endswith("canary.parquet"):
            replay(plan, results, *name.split("/")[:2])
    return plan


def replay(plan: Plan, results: Path, workload: str, representation: str) -> None:
    """The reports of one representation, with receipts."""
    replay_batch_stage(
        results / workload / representation / "canary.parquet",
        results / workload / representation / "reports" / "index-0.json",
        msgspec.to_builtins(list(plan.configurations(workload))),
        code=code_digest("commcanary.stages.replay"),
        **plan.replay_settings(workload),
    )
