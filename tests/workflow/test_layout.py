"""The files that a seal covers are the outputs of the workflow's rules, for every campaign that ships."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from commcanary.campaign.layout import sealed_files
from commcanary.campaign.names import TAKEN_IN_CAMPAIGN, TAKEN_IN_COMPARISONS, TAKEN_IN_RESULTS, TAKEN_IN_WORKLOAD
from commcanary.campaign.plan import Plan

ROOT = Path(__file__).parents[2]
BESIDE = {"seal.json", "seal.sha256", "timings.html"}


@pytest.mark.parametrize(
    "config", ["config/config.yaml", "config/campaigns/null.yaml", "config/campaigns/ablations.yaml"]
)
def test_sealed_files_are_the_rules_outputs(config: str, tmp_path: Path) -> None:
    plan = Plan.load(ROOT / config)
    engine = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--cores", "1"]
    done = subprocess.run(
        [*engine, "--summary", "--quiet", "all", "--configfile", str(ROOT / config), "--directory", str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [line.split("\t")[0] for line in done.stdout.splitlines() if line.startswith("results/")]
    outputs = {path.removeprefix(f"results/{plan.name}/") for path in rows}
    indexes = {path for path in outputs if "/reports/index-" in path}
    sealed = {path for path in sealed_files(plan) if "/reports/" not in path and "/comparisons/" not in path}
    sealed |= {path for path in sealed_files(plan) if path.endswith("comparisons/index.json")}
    assert outputs - indexes - BESIDE == sealed
    cells = {f"{cell.workload}/{cell.representation}" for cell in plan.cells()}
    assert {path.partition("/reports/")[0] for path in indexes} == cells


def test_names_that_are_taken_are_where_the_rules_write() -> None:
    """Everything that a rule names under a folder of the user's names; what stages write beside is listed here."""
    rules = "\n".join(path.read_text() for path in sorted((ROOT / "workflow" / "rules").glob("*.smk")))
    campaign = set(re.findall(r"\{RESULTS\}/([a-z][\w.-]*)", rules))
    workload = set(re.findall(r"\{\{workload\}\}/([a-z][\w.-]*)", rules))
    comparisons = set(re.findall(r"/comparisons/([a-z][\w-]*)\.json", rules))
    results = set(re.findall(r'"results/([a-z][\w.-]*)"', rules))
    assert set(TAKEN_IN_CAMPAIGN) == campaign | {"manifests", "superseded", "seal.sha256.sig"}
    assert set(TAKEN_IN_WORKLOAD) == workload
    assert set(TAKEN_IN_COMPARISONS) == comparisons
    assert set(TAKEN_IN_RESULTS) == results
