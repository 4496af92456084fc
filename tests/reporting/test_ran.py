"""The page shows the numbers of configurations that some workload's model reads."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from commcanary.campaign.plan import Plan
from commcanary.reporting.ran import configuration_table

SHARED = ("bandwidth (Gbit/s)", "latency floor (us)", "compute pressure")


@pytest.mark.parametrize(
    ("models", "slowdown", "labels"),
    [
        (("scheduler-v4",), 0.0, (*SHARED, "overlap efficiency")),
        (("closed-loop-v1",), 0.0, SHARED),
        (("closed-loop-v1",), 0.1, (*SHARED, "compute slowdown")),
        (("scheduler-v4",), 0.1, (*SHARED, "overlap efficiency")),
        (("scheduler-v4", "closed-loop-v1"), 0.1, (*SHARED, "overlap efficiency", "compute slowdown")),
    ],
)
def test_a_number_that_no_model_reads_has_no_column(
    tmp_path: Path, models: tuple[str, ...], slowdown: float, labels: tuple[str, ...]
) -> None:
    source = {"kind": "synth", "name": "inference"}
    document = {
        "campaign": "c",
        "configurations": [{"name": "baseline"}, {"name": "own", "compute_slowdown": slowdown}],
        "representations": [{"name": "canary", "method": "canary"}],
        "workloads": [{"name": f"w{n}", "source": source, "model": model} for n, model in enumerate(models)],
    }
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(document))
    table = configuration_table(Plan.load(tmp_path / "c.yaml"))
    assert table.labels == labels
    assert [row.values[-1] for row in table.rows if row.name == "own" and slowdown and "slowdown" in labels[-1]] == (
        [slowdown] if "slowdown" in labels[-1] else []
    )
