"""The manifest names every input, cell and setting, and does not depend on where the campaign lies."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from commcanary import __version__
from commcanary.artifacts.canonical import canonical_json
from commcanary.artifacts.files import write_artifact
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.artifacts.trace_table import to_stored
from commcanary.campaign.manifest import Manifest, manifest_of, plan_of
from commcanary.campaign.plan import Plan
from commcanary.sources.synthetic.registry import synthetic

ROOT = Path(__file__).parents[2]
GIVEN: dict[str, Any] = {
    "name": "given",
    "source": {"kind": "trace", "path": "given.json"},
    "expect": {"canary": "failed"},
}
MADE: dict[str, Any] = {"name": "made", "source": {"kind": "synth", "name": "mixed", "events": 5}}
CONFIG: dict[str, Any] = {
    "campaign": "frozen",
    "configurations": [{"name": "baseline"}, {"name": "slow", "bandwidth_gbps": 20}],
    "representations": [{"name": "canary", "method": "canary"}, {"name": "isolated", "method": "isolated"}],
    "policy": {"min_ranking_agreement": 1},
    "workloads": [GIVEN, MADE],
}


def manifest(folder: Path, config: dict[str, Any] = CONFIG) -> Manifest:
    (folder / "c.yaml").write_text(yaml.safe_dump(config))
    return manifest_of(Plan.load(folder / "c.yaml"))


def ids(of: Manifest) -> dict[tuple[str, str, str], str]:
    return {(cell.workload, cell.representation, cell.configuration): cell.id for cell in of.cells}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_artifact(tmp_path / "given.json", TRACE, to_stored(synthetic("mixed", 1, 6)))
    return tmp_path


def test_it_holds_inputs_cells_code_environment_policy_and_expectations(folder: Path) -> None:
    found = manifest(folder)
    data = (folder / "given.json").read_bytes()
    assert [(f.workload, f.name, f.bytes, f.sha256) for f in found.inputs] == [
        ("given", "given.json", len(data), hashlib.sha256(data).hexdigest())
    ]
    assert len(ids(found)) == 2 * 2 * 2
    assert len(set(ids(found).values())) == 8
    lock = (ROOT / "requirements.lock").read_bytes()
    assert found.environment is not None
    assert found.environment.lock_sha256 == hashlib.sha256(lock).hexdigest()
    assert f"\nnumpy=={found.environment.packages['numpy'].split(', ')[0]}" in f"\n{lock.decode()}"
    assert found.package_version == __version__
    assert found.code.workflow is not None
    assert set(found.models) == {"scheduler-v4"}
    assert found.policy["min_ranking_agreement"] == 1
    assert found.expected == {"given": {"canary": "failed"}, "made": {}}
    assert found.config["thresholds"]["p99_threshold_pct"] == 15  # a default, resolved


def test_it_does_not_depend_on_the_folder_nor_on_comments(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    shutil.copy(folder / "given.json", other)
    (other / "c.yaml").write_text("# a comment\n" + yaml.safe_dump({**CONFIG, "freeze": "strict"}))
    there = manifest_of(Plan.load(other / "c.yaml"))
    assert canonical_json(there) == canonical_json(manifest(folder))
    assert str(folder) not in canonical_json(there).decode()


def test_its_configuration_gives_the_plan_back(folder: Path) -> None:
    found = manifest(folder)
    read = msgspec.json.decode(canonical_json(found), type=Manifest)
    assert list(plan_of(read, folder).cells()) == list(Plan.load(folder / "c.yaml").cells())


@pytest.mark.parametrize(
    ("change", "touched"),
    [
        ({"title": "new"}, set()),
        ({"thresholds": {"p99_threshold_pct": 1}}, set()),
        ({"replay": {"seeds": [8]}}, {"given", "made"}),
        ({"workloads": [CONFIG["workloads"][0], {**CONFIG["workloads"][1], "seeds": [9]}]}, {"made"}),
        (
            {"workloads": [{**CONFIG["workloads"][0], "assume": {"arrival_skew_us": 1}}, CONFIG["workloads"][1]]},
            {"given"},
        ),
    ],
)
def test_a_cells_id_changes_with_what_its_report_is_made_from(
    folder: Path, change: dict[str, Any], touched: set[str]
) -> None:
    before, after = ids(manifest(folder)), ids(manifest(folder, {**CONFIG, **change}))
    assert {cell[0] for cell in before if before[cell] != after[cell]} == touched


def test_a_changed_source_file_changes_the_ids_of_its_workload(folder: Path) -> None:
    before = ids(manifest(folder))
    write_artifact(folder / "given.json", TRACE, to_stored(synthetic("mixed", 2, 6)))
    after = ids(manifest(folder))
    assert {cell[0] for cell in before if before[cell] != after[cell]} == {"given"}
