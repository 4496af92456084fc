"""A finished campaign's folder, made by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from commcanary.artifacts.files import write_artifact
from commcanary.artifacts.stored import Stored
from commcanary.campaign.config import CampaignConfig
from commcanary.campaign.environment import Environment
from commcanary.campaign.manifest import MANIFEST, ExpectedCell, InputFile, Manifest
from commcanary.campaign.provenance import CodeDigests
from commcanary.reporting.figures import draw_figures

from .rows import FAST, FRIENDLY, cell_row, compared_row, export_row, inversion_rows, representation_row, write_tables

if TYPE_CHECKING:
    from pathlib import Path

CONFIG: dict[str, Any] = {
    "campaign": "small",
    "title": "A small campaign",
    "configurations": [{"name": "baseline"}, {"name": "congested", "bandwidth_gbps": 28, "compute_pressure": 0.95}],
    "representations": [{"name": "canary", "method": "canary"}, {"name": "cluster", "method": "cluster"}],
    "workloads": [
        {
            "name": "training",
            "source": {"kind": "kineto", "profiles": ["profiles/rank0.json.gz"], "clock": "shared"},
            "assume": {"compute_overlap_us": 0},
        },
        {
            "name": "ranking-inversion",
            "source": {"kind": "synth", "name": "ranking-inversion"},
            "baseline": FAST,
            "seeds": [1],
            "configurations": [
                {"name": FAST, "latency_floor_us": 7, "overlap_efficiency": 0},
                {"name": FRIENDLY, "latency_floor_us": 8, "overlap_efficiency": 1},
            ],
            "representations": [{"name": "canary", "method": "canary"}, {"name": "isolated", "method": "isolated"}],
        },
    ],
}
CELL_ROWS = [
    cell_row("training", "canary", "baseline", 50.0),
    compared_row("training", "canary", "congested", 75.0, "fail", 50.0),
    cell_row("training", "cluster", "baseline", 50.0),
    compared_row("training", "cluster", "congested", 51.0, "pass", 2.0),
    *inversion_rows(),
]
REPRESENTATION_ROWS = [
    representation_row("training", "canary", "behaviorally_unverified", assumptions="compute_overlap_us=0"),
    representation_row("training", "cluster", "failed", behavior_status="pass", ranking_status="pass"),
    representation_row("ranking-inversion", "canary", "behaviorally_verified", expected_status="behaviorally_verified"),
    representation_row("ranking-inversion", "isolated", "failed", expected_status="behaviorally_verified"),
]
EXPORT_ROWS = [
    export_row("training"),
    export_row("ranking-inversion", skipped=0, skipped_why="", breaking_consumers=""),
]


def write_campaign(
    folder: Path,
    config: dict[str, Any] = CONFIG,
    cell_rows: list[dict[str, object]] = CELL_ROWS,
    representation_rows: list[dict[str, object]] = REPRESENTATION_ROWS,
    export_rows: list[dict[str, object]] = EXPORT_ROWS,
) -> Path:
    """Manifest, tables and figures of a campaign in ``folder``, which is returned."""
    resolved = msgspec.convert(config, CampaignConfig)
    manifest = Manifest(
        campaign=resolved.campaign,
        package_version="0.1.0",
        code=CodeDigests("c0de" * 16, None),
        environment=Environment("10cc" * 16, {"numpy": "2.0"}),
        models={"scheduler-v4": "4"},
        config=msgspec.to_builtins(resolved),
        policy=msgspec.to_builtins(resolved.policy),
        expected={},
        inputs=(InputFile("training", "rank0.json.gz", 341271, "f11e" * 16),),
        cells=(ExpectedCell("training", "canary", "baseline", "ce11" * 16),),
    )
    write_artifact(folder / "manifest.json", MANIFEST, Stored(manifest))
    draw_figures(write_tables(folder, cell_rows, representation_rows, export_rows), folder / "figures")
    return folder
