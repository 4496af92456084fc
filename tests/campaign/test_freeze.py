"""A frozen campaign keeps every manifest it has had, and refuses a change with every difference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from commcanary.campaign.freeze import ChangeRefusal, differences, load_as_started
from commcanary.campaign.manifest import manifest_of
from commcanary.campaign.plan import Plan
from commcanary.stages.manifest import check_freeze, manifest_stage

CONFIG: dict[str, Any] = {
    "campaign": "frozen",
    "configurations": [{"name": "baseline"}, {"name": "slow", "bandwidth_gbps": 20}],
    "representations": [{"name": "canary", "method": "canary"}],
    "workloads": [{"name": "made", "source": {"kind": "synth", "name": "mixed", "events": 5}}],
}
SEEDS = {"replay": {"seeds": [7, 8]}}


def write(folder: Path, **change: Any) -> Path:
    path = folder / "c.yaml"
    path.write_text(yaml.safe_dump({**CONFIG, **change}))
    return path


def freeze(folder: Path, **change: Any) -> bytes:
    manifest_stage(Plan.load(write(folder, **change)), folder / "manifest.json")
    return (folder / "manifest.json").read_bytes()


def kept(folder: Path) -> list[str]:
    return sorted(path.name[:5] for path in (folder / "manifests").iterdir())


def test_auto_writes_a_new_manifest_beside_the_old_one(tmp_path: Path) -> None:
    first = freeze(tmp_path)
    assert freeze(tmp_path) == first
    assert kept(tmp_path) == ["0001-"]
    second = freeze(tmp_path, **SEEDS)
    assert second != first
    assert kept(tmp_path) == ["0001-", "0002-"]
    assert freeze(tmp_path) == first
    stored = [path.read_bytes() for path in sorted((tmp_path / "manifests").iterdir())]
    assert stored == [first, second, first]


def test_a_job_does_not_take_another_configuration_than_its_run_was_started_with(tmp_path: Path) -> None:
    resolved = Plan.load(write(tmp_path)).resolved
    assert load_as_started(write(tmp_path, freeze="strict"), resolved).resolved == resolved
    with pytest.raises(ChangeRefusal) as refusal:
        load_as_started(write(tmp_path, **SEEDS), resolved)
    lines = str(refusal.value).splitlines()
    assert lines[0].endswith("c.yaml: was changed in 1 place after the run was started; run it again")
    assert lines[1:] == ["  replay.seeds[1]: absent -> 8"]


def test_strict_refuses_a_change_and_lists_it(tmp_path: Path) -> None:
    first = freeze(tmp_path)  # whoever froze it did so under auto: strict is no change by itself
    assert freeze(tmp_path, freeze="strict") == first
    with pytest.raises(ChangeRefusal) as refusal:
        freeze(tmp_path, freeze="strict", **SEEDS)
    assert refusal.value.exit_code == 3
    lines = str(refusal.value).splitlines()
    assert "changed in 2 places" in lines[0]
    assert lines[1:] == [
        "  config.replay.seeds[1]: absent -> 8",
        "  cells to be made again: 2 (made/canary/baseline, made/canary/slow)",
    ]
    assert (tmp_path / "manifest.json").read_bytes() == first
    assert kept(tmp_path) == ["0001-"]


def test_nothing_is_refused_before_the_first_manifest(tmp_path: Path) -> None:
    check_freeze(Plan.load(write(tmp_path, freeze="strict")), tmp_path)
    assert not (tmp_path / "manifests").exists()


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        ({"title": "new"}, ["config.title:  -> new"]),
        (
            {"configurations": [{"name": "baseline"}, {"name": "slow", "bandwidth_gbps": 21}]},
            [
                "config.configurations[slow].bandwidth_gbps: 20.0 -> 21.0",
                "cells to be made again: 1 (made/canary/slow)",
            ],
        ),
        ({"policy": {"min_runs": 2}}, ["config.policy.min_runs: 1 -> 2"]),
    ],
)
def test_differences_name_the_key_and_both_values(tmp_path: Path, change: dict[str, Any], lines: list[str]) -> None:
    old = manifest_of(Plan.load(write(tmp_path)))
    assert list(differences(old, manifest_of(Plan.load(write(tmp_path, **change))))) == lines


def test_added_and_removed_cells_are_counted(tmp_path: Path) -> None:
    old = manifest_of(Plan.load(write(tmp_path)))
    new = manifest_of(Plan.load(write(tmp_path, representations=[{"name": "other", "method": "isolated"}])))
    found = differences(old, new)
    assert "cells removed: 2 (made/canary/baseline, made/canary/slow)" in found
    assert "cells added: 2 (made/other/baseline, made/other/slow)" in found
