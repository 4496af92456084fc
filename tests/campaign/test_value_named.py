"""A refused value is named by its key and said, with the way to write it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commcanary.campaign.config import CampaignConfig
from commcanary.campaign.config_file import load_config
from commcanary.campaign.value_named import named_value
from commcanary.campaign.yaml_text import load_yaml
from commcanary.errors import InputRefusal, Refusal

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """
campaign: c
baseline: a
configurations: [{name: a}, {name: b, latency_floor_us: 9}]
representations: [{name: canary, method: canary}]
workloads: [{name: w, source: {kind: synth, name: mixed}}]
"""


def refused(tmp_path: Path, text: str) -> Refusal:
    (tmp_path / "c.yaml").write_text(text)
    with pytest.raises(Refusal) as caught:
        load_config(tmp_path / "c.yaml")
    assert caught.value.exit_code == 3
    assert caught.value.file == str(tmp_path / "c.yaml")
    return caught.value


@pytest.mark.parametrize(
    ("old", "new", "place", "said", "remedy"),
    [
        ("baseline: a", "confidence: 0", "confidence", "is 0 (", ""),
        ("latency_floor_us: 9", "bandwidth_gbps: 1e308", "configurations[1].bandwidth_gbps", "'1e308'", "1.0e+308"),
        ("latency_floor_us: 9", "bandwidth_gbps: '5'", "configurations[1].bandwidth_gbps", "'5'", "write 5, "),
        ("latency_floor_us: 9", "bandwidth_gbps: 1.5e-3x", "configurations[1].bandwidth_gbps", "1.5e-3x", "a number"),
        ("baseline: a", "thresholds: {p99_threshold_pct: 1e1}", "thresholds.p99_threshold_pct", "'1e1'", "write 10.0"),
        ("baseline: a", "replay: {seeds: ['7']}", "replay.seeds[0]", "is '7'", "write 7, without quotes"),
        ("baseline: a", "replay: {seeds: [1e3]}", "replay.seeds[0]", "is '1e3'", "a whole number"),
        ("name: w,", "name: w, assume: {gap_us: 0, compute_overlap_us: x},", "workloads[0].assume.compute_overlap_us",
         "is 'x'", "give a number"),
        ("name: w,", "name: w, expect: {a: b, canary: 1, c: d},", "workloads[0].expect.canary", "is 1 (", ""),
        ("name: w,", "name: w, expect: {a: b, 7: c},", "workloads[0].expect", "has the key 7 (", "in quotes"),
        ("campaign: c", 'campaign: "demo\\n"', "campaign", r"'demo\n'", ""),
        ("name: w,", 'name: "w\\n",', "workloads[0].name", r"'w\n'", ""),
        ("baseline: a", "configurations: no.yaml", "line 4 column 1", "given twice", ""),
    ],
)  # fmt: skip
def test_a_refusal_says_the_key_and_the_value(
    tmp_path: Path, old: str, new: str, place: str, said: str, remedy: str
) -> None:
    assert old in GOOD
    refusal = refused(tmp_path, GOOD.replace(old, new))
    assert refusal.place == place
    assert said in refusal.found
    assert remedy in refusal.remedy


def test_a_list_of_configurations_elsewhere_is_named_by_its_key(tmp_path: Path) -> None:
    line = next(line for line in GOOD.splitlines() if line.startswith("configurations"))
    refusal = refused(tmp_path, GOOD.replace(line, "configurations: nosuch.yaml"))
    assert refusal.place == "configurations"
    assert "nosuch.yaml, which is not there" in refusal.found


@given(count=st.integers(1, 40), wrong=st.integers(0, 39))
def test_the_one_wrong_entry_of_a_mapping_is_found(count: int, wrong: int) -> None:
    wrong %= count
    entries: dict[str, Any] = {f"key{number}": number for number in range(count)}
    entries[f"key{wrong}"] = "x"
    document = {
        "campaign": "c",
        "configurations": [{"name": "baseline"}],
        "representations": [{"name": "canary", "method": "canary"}],
        "workloads": [{"name": "w", "source": {"kind": "synth", "name": "mixed"}, "assume": entries}],
    }
    with pytest.raises(InputRefusal) as caught:
        named_value(document, CampaignConfig)
    assert caught.value.place == f"workloads[0].assume.key{wrong}"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "latin-1"])
def test_what_is_not_utf_8_is_refused(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "c.yaml").write_bytes(("title: é\n" + GOOD).encode(encoding))
    with pytest.raises(InputRefusal) as caught:
        load_yaml(tmp_path / "c.yaml")
    assert str(tmp_path / "c.yaml") in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "UTF-8" in str(caught.value)


@pytest.mark.parametrize(
    ("source", "replay", "place"),
    [
        ("name: mixed, events: 10000", "iterations: 5001", "replay"),
        ("name: mixed, events: 5000, repeat: 2", "seeds: [1, 2, 3], iterations: 1667", "replay"),
        ("name: ranking-inversion", "seeds: [1, 2, 3, 4, 5, 6], iterations: 100000", "replay"),
    ],
)
def test_more_samples_than_a_replay_may_take_are_refused(tmp_path: Path, source: str, replay: str, place: str) -> None:
    text = GOOD.replace("name: mixed", source) + f"replay: {{{replay}}}\n"
    refusal = refused(tmp_path, text)
    assert refusal.place == place
    assert "more than 50,000,000" in refusal.found


def test_as_many_samples_as_allowed_are_not(tmp_path: Path) -> None:
    text = GOOD.replace("name: mixed", "name: mixed, events: 10000") + "replay: {iterations: 5000}\n"
    (tmp_path / "c.yaml").write_text(text)
    assert load_config(tmp_path / "c.yaml").replay.iterations == 5000


def test_the_runs_of_a_null_calibration_count_too(tmp_path: Path) -> None:
    text = GOOD.replace("name: mixed", "name: mixed, events: 6000") + "null_calibration: {seeds: 10000}\n"
    assert refused(tmp_path, text).place == "null_calibration.seeds"
