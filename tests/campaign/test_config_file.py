"""What a campaign's configuration may not say, and how the refusal names it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from commcanary.campaign.config_file import load_config
from commcanary.errors import InputRefusal

ROOT = Path(__file__).parents[2]

GOOD = {
    "campaign": "c",
    "configurations": [{"name": "baseline"}, {"name": "slow", "bandwidth_gbps": 28}],
    "representations": [{"name": "canary", "method": "canary"}],
    "workloads": [{"name": "w", "source": {"kind": "synth", "name": "inference"}}],
}


def changed(*path: str | int, to: object) -> dict[str, object]:
    document = yaml.safe_load(yaml.safe_dump(GOOD))
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    if to is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = to
    return document


def refusal(tmp_path: Path, text: str) -> str:
    file = tmp_path / "campaign.yaml"
    file.write_text(text)
    with pytest.raises(InputRefusal) as caught:
        load_config(file)
    assert caught.value.exit_code == 3
    assert caught.value.file == str(file)
    message = str(caught.value)
    assert "\n" not in message
    return message


def measured(**entry: object) -> dict[str, object]:
    """A configuration with one measurement of overlap, whose profile is a file that is there."""
    source = {"kind": "kineto", "profiles": [str(Path(__file__).resolve())]}
    return {**GOOD, "overlap": [{"name": "job", "source": source, **entry}]}


@pytest.mark.parametrize(
    ("document", "place", "value"),
    [
        (measured(name="a/b"), "overlap[0].name", "regex"),
        (
            {**GOOD, "overlap_studies": [{"name": "s", "compute": ["a"], "communication": ["b"], "overlapped": []}]},
            "overlap_studies[0].overlapped",
            "length",
        ),
        (
            {
                **GOOD,
                "overlap_studies": [{"name": "s", "compute": ["no"], "communication": ["b"], "overlapped": ["c"]}],
            },
            "overlap_studies[0].compute[0]",
            "no",
        ),
        (measured(source={"kind": "kineto", "profiles": ["no.json"]}), "overlap[0].source.profiles[0]", "no.json"),
        (measured(source={"kind": "synth", "name": "inference"}), "overlap[0].source", "synth"),
        (measured(convention="nvidia"), "overlap[0].convention", "nvidia"),
        (measured(trim_s=[2.0, 1.0]), "overlap[0].trim_s", "[2.0, 1.0]"),
        (measured(trim_s=[-2.0, 1.0]), "overlap[0].trim_s[0]", ">= 0"),
        (measured(against="job"), "overlap[0].against", "'job' is no other entry of overlap"),
        (measured(against="before"), "overlap[0].against", "'before' is no other entry"),
        (measured(ranges=["("]), "overlap[0].ranges[0]", "no regular expression"),
        (
            measured(communication_kernels={"mine": "["}),
            "overlap[0].communication_kernels.mine",
            "no regular expression",
        ),
        (measured(phase_anchors={"forward": "x"}), "overlap[0].phase_anchors", "backward"),
        (measured(phase_anchors={"forward": "x", "backward": "["}), "overlap[0].phase_anchors.backward", "expression"),
        ({**GOOD, "overlap": measured()["overlap"] * 2}, "overlap[1].name", "'job' is used 2 times"),  # type: ignore[operator]
    ],
)
def test_a_measurement_of_overlap_is_refused_before_any_job(
    tmp_path: Path, document: dict[str, object], place: str, value: str
) -> None:
    message = refusal(tmp_path, yaml.safe_dump(document))
    assert place in message
    assert value in message


@pytest.mark.parametrize(
    ("document", "place", "value"),
    [
        (changed("titel", to="x"), "top level", "titel"),
        (changed("campaign", to=...), "top level", "campaign"),
        (changed("campaign", to="a/b"), "campaign", "regex"),
        (changed("workloads", to=[]), "workloads", "length"),
        (changed("workloads", 0, "source", "kind", to="nowhere"), "workloads[0].source", "nowhere"),
        (
            changed("workloads", 0, "representations", to=[{"name": "canary", "method": "random"}]),
            "workloads[0].representations[0].method",
            "'random' where 'canary' is 'canary'",
        ),
        (changed("workloads", 0, "source", "name", to="inferense"), "workloads[0].source.name", "inferense"),
        (changed("workloads", 0, "source", "seed", to=-1), "workloads[0].source.seed", ">= 0"),
        (
            changed("workloads", 0, "source", to={"kind": "trace", "path": "no.json"}),
            "workloads[0].source.path",
            "no.json",
        ),
        (
            changed("workloads", 0, "source", to={"kind": "kineto", "profiles": ["r0.json"]}),
            "workloads[0].source.profiles[0]",
            "r0.json",
        ),
        (changed("workloads", to=GOOD["workloads"] * 2), "workloads[1].name", "'w'"),
        (changed("configurations", 1, to={"name": "baseline"}), "configurations[1].name", "'baseline'"),
        (changed("configurations", 1, "name", to="baseline"), "configurations[1].bandwidth_gbps", "'baseline'"),
        (changed("configurations", 1, "name", to=...), "configurations[1].name", "missing"),
        (changed("configurations", 1, "bandwidth_gbps", to=0), "configurations[1].bandwidth_gbps", "0"),
        (changed("configurations", 1, "bandwidth_gbps", to="fast"), "configurations[1].bandwidth_gbps", "str"),
        (changed("configurations", 1, "name", to="../up"), "configurations[1].name", "'../up'"),
        (changed("baseline", to="fastest"), "workloads[0].baseline", "'fastest'"),
        (changed("representations", 0, "method", to="clusters"), "representations[0].method", "clusters"),
        (
            changed(
                "representations", 0, to={"name": "c", "method": "canary", "quantum_us": 1, "timing_sample_limit": 2}
            ),
            "representations[0].quantum_us",
            "timing_sample_limit",
        ),
        (changed("replay", to={"model": "scheduler-v9"}), "replay.model", "scheduler-v9"),
        (changed("replay", to={"seeds": [1, 1]}), "replay.seeds[1]", "1 is given twice"),
        (changed("replay", to={"seeds": []}), "replay.seeds", "length"),
        (changed("replay", to={"ablations": ["gravity"]}), "replay.ablations[0]", "gravity"),
        (changed("workloads", 0, "expect", to={"kanary": "failed"}), "workloads[0].expect.kanary", "canary"),
        (changed("workloads", 0, "expect", to={"canary": "good"}), "workloads[0].expect.canary", "good"),
        (changed("thresholds", to={"p99_threshold_pct": -1}), "thresholds.p99_threshold_pct", "-1"),
        (changed("configurations", to=[]), "configurations", "length"),
    ],
)
def test_a_bad_value_is_refused_with_its_path(tmp_path: Path, document: object, place: str, value: str) -> None:
    message = refusal(tmp_path, yaml.safe_dump(document))
    assert place in message
    assert value in message


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("campaign: a\ncampaign: b\n", "line 2 column 1"),
        ("campaign: [\n", "line 2"),
        ("campaign: \x07", "text"),
        ("- a\n", "top level"),
        ("", "empty"),
    ],
)
def test_bad_yaml_is_refused_with_its_line(tmp_path: Path, text: str, place: str) -> None:
    assert place in refusal(tmp_path, text)


def test_configurations_may_stand_in_a_file_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("configurations:\n  - name: baseline\n")
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(changed("configurations", to="own.yaml")))
    assert [c.name for c in load_config(tmp_path / "c.yaml").configurations] == ["baseline"]


def test_a_fault_in_the_file_of_configurations_names_that_file(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("configuration:\n  - name: baseline\n")
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(changed("configurations", to="own.yaml")))
    with pytest.raises(InputRefusal) as caught:
        load_config(tmp_path / "c.yaml")
    assert caught.value.file == str(tmp_path / "own.yaml")


@pytest.mark.parametrize("file", sorted((ROOT / "config").glob("**/*.yaml")), ids=lambda path: path.name)
def test_every_shipped_configuration_is_valid(file: Path) -> None:
    if "campaign:" in file.read_text():
        assert load_config(file).campaign


def test_reconciled_workloads_are_workloads(tmp_path: Path) -> None:
    document: dict[str, Any] = dict(GOOD)
    name = document["workloads"][0]["name"]
    for workloads, told in (
        ([name, "elsewhere"], "workloads[1]: 'elsewhere' is not a workload"),
        ([name, name], "twice"),
    ):
        message = refusal(
            tmp_path, yaml.safe_dump({**document, "reconcile": [{"name": "job", "workloads": workloads}]})
        )
        assert "reconcile[0].workloads[1]" in message
        assert told in message
