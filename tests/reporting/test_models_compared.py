"""Two models side by side, from rows made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from commcanary.campaign.config import CampaignConfig
from commcanary.campaign.plan import Plan
from commcanary.reporting.models_compared import ControlRow, WindowRow, models_compared
from commcanary.reporting.tables import CellRow, RepresentationRow

from .rows import cell_row, representation_row

OPEN, CLOSED = "scheduler-v4", "closed-loop-v1"


def plan_of(*workloads: tuple[str, dict[str, Any], str]) -> Plan:
    config = {
        "campaign": "models",
        "configurations": [{"name": "baseline"}, {"name": "a"}],
        "representations": [{"name": "canary", "method": "canary"}, {"name": "cluster", "method": "cluster"}],
        "workloads": [
            {"name": name, "source": {"kind": "synth", "name": "mixed", **source}, "model": model}
            for name, source, model in workloads
        ],
    }
    return Plan(msgspec.convert(config, CampaignConfig), Path())


def cells(workload: str, first: float, second: float, **makespans: float) -> list[CellRow]:
    rows = [
        cell_row(workload, "canary", name, us, makespan_us=makespans.get(name))
        for name, us in (("baseline", first), ("a", second))
    ]
    return [msgspec.convert(row, CellRow) for row in rows]


def representations(workload: str, canary: str, cluster: str) -> list[RepresentationRow]:
    rows = [
        representation_row(workload, "canary", "failed", behavior_status=canary, ranking_status="pass"),
        representation_row(workload, "cluster", "failed", behavior_status=cluster, ranking_status="pass"),
    ]
    return [msgspec.convert(row, RepresentationRow) for row in rows]


def test_nothing_is_compared_where_each_source_has_one_model() -> None:
    plan = plan_of(("one", {}, OPEN), ("other", {"seed": 8}, CLOSED))
    assert models_compared(plan, [*cells("one", 1, 2), *cells("other", 1, 2)], []) is None


def test_rankings_and_conclusions_are_held_against_each_other() -> None:
    plan = plan_of(("one", {}, OPEN), ("other", {}, CLOSED))
    found = models_compared(
        plan,
        [*cells("one", 10, 20), *cells("other", 30, 20, baseline=500.0, a=500.0)],
        [*representations("one", "fail", "pass"), *representations("other", "pass", "pass")],
    )
    assert found is not None
    (pair,) = found.pairs
    assert pair.names == ("one", "other")
    assert pair.models == (OPEN, CLOSED)
    by = {row.metrics: row for row in pair.rankings}
    assert (by["median"].agreed, by["median"].pairs) == (0, 1)
    assert by["median"].disagreements == (("baseline", "a", "baseline", "a"),)
    assert by["median against makespan"].disagreements == (("baseline", "a", "baseline", None),)
    assert pair.controls == (
        ControlRow("canary", ("fail", "pass"), ("pass", "pass")),
        ControlRow("cluster", ("pass", "pass"), ("pass", "pass")),
    )
    assert [row.changes for row in pair.controls] == [True, False]
    assert found.windows == ()


def test_repeated_windows_are_columns() -> None:
    plan = plan_of(*((f"{model}-{n}", {"events": 66, "repeat": n}, model) for n in (2, 1) for model in (OPEN, CLOSED)))
    found = models_compared(
        plan,
        [
            *cells(f"{OPEN}-2", 70, 80),
            *cells(f"{CLOSED}-2", 30, 40, baseline=200.0, a=240.0),
            *cells(f"{OPEN}-1", 50, 60),
            *cells(f"{CLOSED}-1", 30, 40, baseline=100.0, a=120.0),
        ],
        [],
    )
    assert found is not None
    assert found.pairs == ()
    assert found.repeats == (1, 2)
    assert found.windows == (
        WindowRow(OPEN, "baseline", (50.0, 70.0), (None, None)),
        WindowRow(OPEN, "a", (60.0, 80.0), (None, None)),
        WindowRow(CLOSED, "baseline", (30.0, 30.0), (100.0, 100.0)),
        WindowRow(CLOSED, "a", (40.0, 40.0), (120.0, 120.0)),
    )
