"""Sources of a campaign of every kind become traces, with the settings that the configuration states."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from commcanary.campaign.config_file import load_config
from commcanary.campaign.workload_sources import files_of
from commcanary.stages.trace import trace_stage

CAMPAIGNS = Path(__file__).resolve().parents[2] / "config" / "campaigns"


@pytest.mark.parametrize(
    ("campaign", "workload", "events"),
    [
        ("one-job", "kineto", 20),
        ("one-job", "execution-trace", 20),
        ("one-job", "flight-recorder", 20),
        ("one-nccl-job", "log", 22),
        ("one-nccl-job", "inspector", 17),
    ],
)
def test_workloads_of_one_job(tmp_path: Path, campaign: str, workload: str, events: int) -> None:
    config = load_config(CAMPAIGNS / f"{campaign}.yaml")
    (source,) = (of.source for of in config.workloads if of.name == workload)
    files = [CAMPAIGNS / name for name in files_of(source).values()]
    trace = trace_stage(workload, msgspec.to_builtins(source), files, tmp_path / "trace.parquet")
    assert len(trace) == events
    assert trace.workload_name == workload
    known = workload != "execution-trace"
    assert bool(trace.events.offsets_ns.known.all()) is known
