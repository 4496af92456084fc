"""A manifest that no configuration file could have given is refused before anything is read or written by its names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from commcanary.artifacts.files import read_artifact, write_artifact
from commcanary.artifacts.stored import Stored
from commcanary.campaign.leaves import changed_leaves
from commcanary.campaign.manifest import MANIFEST
from commcanary.cli.main import run

Change = Callable[[dict[str, Any]], None]


def forge(results: Path, change: Change) -> None:
    header = read_artifact(results / "manifest.json", MANIFEST).header
    config = msgspec.json.decode(msgspec.json.encode(header.config))
    change(config)
    write_artifact(results / "manifest.json", MANIFEST, Stored(msgspec.structs.replace(header, config=config)))


def at(*path: str | int, value: Any) -> Change:
    def change(config: dict[str, Any]) -> None:
        target: Any = config
        for step in path[:-1]:
            target = target[step]
        target[path[-1]] = value

    return change


HOSTILE: dict[str, tuple[Change, str]] = {
    "a configuration called as a file elsewhere": (
        at("configurations", 1, "name", value="../../../../../out"),
        "config.configurations[1].name: no campaign has this: is '../../../../../out' (names become files",
    ),
    "a configuration called by an absolute path": (
        at("configurations", 1, "name", value="/out"),
        "config.configurations[1].name: no campaign has this: is '/out'",
    ),
    "a workload's own configuration elsewhere": (
        at("workloads", 0, "configurations", value=[{"name": "baseline"}, {"name": "../out"}]),
        "config.workloads[0].configurations[1].name: no campaign has this: is '../out'",
    ),
    "a workload elsewhere": (at("workloads", 0, "name", value=".."), "config.workloads[0].name: no campaign has this"),
    "a representation elsewhere": (
        at("representations", 0, "name", value="a/b"),
        "config.representations[0].name: no campaign has this",
    ),
    "a reconciliation elsewhere": (
        at("reconcile", value=[{"name": "../x", "workloads": ["made", "made"]}]),
        "config.reconcile[0].name: no campaign has this",
    ),
    "a campaign with a line end": (at("campaign", value="small\n"), "config.campaign: no campaign has this"),
    "a name that the results have themselves": (
        at("workloads", 0, "name", value="tables"),
        "config.workloads[0].name: no campaign has this: 'tables' is the name of a file or folder of the results",
    ),
    "no name": (at("configurations", 1, "name", value=None), "config.configurations[1].name: no campaign has this"),
    "an unknown key": (at("more", value=1), "config: no campaign has this: Object contains unknown field `more`"),
    "a wrong type": (at("workloads", value=5), "config.workloads: no campaign has this: is 5 (Expected `array`"),
    "nothing": (lambda config: config.clear(), "config: no campaign has this: Object missing required field"),
    "an unknown baseline": (at("baseline", value="nope"), "config.workloads[0].baseline: no campaign has this: 'nope'"),
    "an unknown model": (at("replay", "model", value="nope"), "config.replay.model: no campaign has this: 'nope'"),
    "a workload's unknown model": (at("workloads", 0, "model", value="nope"), "config.workloads[0].model: no campaign"),
    "equal seeds": (at("replay", "seeds", value=[1, 1]), "config.replay.seeds[1]: no campaign has this: 1 is given"),
    "an unknown synthetic trace": (
        at("workloads", 0, "source", "name", value="nope"),
        "config.workloads[0].source.name: no campaign has this: 'nope' is unknown",
    ),
    "an unknown field assumed": (
        at("workloads", 0, "assume", value={"nope": 1.0}),
        "config.workloads[0].assume.nope: no campaign has this",
    ),
    "an unknown ablation": (at("ablation_costs", value=["nope"]), "config.ablation_costs.ablations[0]: no campaign"),
    "too many runs": (at("replay", "iterations", value=10**8), "config.replay.iterations: no campaign has this"),
    "the name of a file in place of a list": (at("configurations", value="c.yaml"), "config.configurations: no camp"),
    "a list in place of all": (at("tolerances", value=[]), "config.tolerances: no campaign has this"),
}


@pytest.mark.parametrize(("change", "refusal"), HOSTILE.values(), ids=HOSTILE.keys())
def test_it_is_refused_by_all_that_read_it(
    results: Path, change: Change, refusal: str, capsys: pytest.CaptureFixture[str]
) -> None:
    forge(results, change)
    before = sorted(results.parent.rglob("*"))
    crate = ["-o", str(results.parent / "c.zip"), "--license", "https://example.org/l"]
    for command in (["verify"], ["status"], ["seal"], ["export-crate", *crate]):
        assert run(["campaign", command[0], str(results), *command[1:]]) == 3
        said = capsys.readouterr().err
        assert said.startswith(f"commcanary: {results / 'manifest.json'}: {refusal}"), said
        assert said.count("\n") == 1
        assert said.endswith("; restore the manifest, or run the campaign again\n")
    assert sorted(results.parent.rglob("*")) == before


def test_a_source_that_is_not_here_is_no_fault_of_a_manifest(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forge(results, at("workloads", 0, "source", value={"kind": "trace", "path": "elsewhere.json"}))
    assert run(["campaign", "verify", str(results), "--sample", "1"]) == 1
    assert "manifest.json: inputs[0][0]: is absent, its configuration gives made" in capsys.readouterr().out


def test_names_that_are_no_text_are_compared_by_place() -> None:
    old, new = {"all": [{"name": []}, {"name": {}}]}, {"all": [{"name": []}, {"name": "x"}]}
    assert list(changed_leaves(old, new)) == ["all[1].name: {} -> x"]
