"""Keys that a command also takes as an option: a wrong value is the file's fault, found when it is loaded."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import yaml

from commcanary.cli.main import run

from .test_names import config

TRIMS: list[tuple[Any, str, str]] = [
    ([-1, 2], "[0]", "-1"),
    ([2, 1], "", "[2.0, 1.0]"),
    ([1, 1], "", "[1.0, 1.0]"),
    ([1, 2, 3], "", "[1, 2, 3]"),
    ([1], "", "[1]"),
    (["a", 2], "[0]", "'a'"),
    ("1 2", "", "'1 2'"),
    ([0, math.nan], "[1]", "nan"),
    ([0, 1e30], "[1]", "1e+30"),
]
KINDS = {
    "kineto": "profiles",
    "nsys": "exports",
    "nccl-inspector": "records",
    "flight-recorder": "dumps",
    "nccl-log": "logs",
}


def source(**keys: Any) -> dict[str, Any]:
    return config() | {"workloads": [{"name": "w", "source": keys}]}


def of_kind(kind: str, **keys: Any) -> dict[str, Any]:
    return source(kind=kind, **{KINDS[kind]: ["e"]}, **keys)


def overlap(**keys: Any) -> dict[str, Any]:
    return config() | {"overlap": [{"name": "job", "source": {"kind": "kineto", "profiles": ["e"]}, **keys}]}


def represented(**keys: Any) -> dict[str, Any]:
    return config() | {"representations": [{"name": "canary", "method": "canary", **keys}]}


CASES: list[tuple[dict[str, Any], str, str]] = [
    *((overlap(trim_s=trim), f"overlap[0].trim_s{at}: ", value) for trim, at, value in TRIMS),
    *((of_kind("nsys", trim_s=trim), f"workloads[0].source.trim_s{at}: ", value) for trim, at, value in TRIMS),
    *((of_kind(kind, clock="offsets"), "workloads[0].source.clock: ", "'offsets'") for kind in KINDS),
    *(
        (of_kind(kind, clock=clock, clock_offsets_us={"0": 1}), "workloads[0].source.clock: ", f"'{clock}'")
        for kind in KINDS
        for clock in ("shared", "unknown")
    ),
    # left out it is unknown
    *((of_kind(kind, clock_offsets_us={"0": 1}), "workloads[0].source.clock: ", "'unknown'") for kind in KINDS),
    *(
        (
            of_kind(kind, clock="offsets", clock_offsets_us={"1": 1, "01": 2}),
            "workloads[0].source.clock_offsets_us: ",
            "rank 1 twice",
        )
        for kind in KINDS
    ),
    (source(kind="chakra", traces=["e", "f"], ranks=[3, 3]), "workloads[0].source.ranks: ", "[3, 3]"),
    (source(kind="flight-recorder", dumps=["e", "f"], ranks=[3]), "workloads[0].source.ranks: ", "[3]"),
    (of_kind("nccl-log", ranks=[3]), "workloads[0].source.ranks: ", "[3] without assume_default_group"),
    (source(kind="chakra", traces=["e"], world_size=0), "workloads[0].source.world_size: ", "0"),
    (source(kind="synth", name="ranking-inversion", events=5), "workloads[0].source.events: ", "5"),
    (source(kind="synth", name="mixed", repeat=0), "workloads[0].source.repeat: ", "0"),
    (source(kind="synth", name="mixed", seed=-1), "workloads[0].source.seed: ", "-1"),
    (represented(quantum_us=0.0001), "representations[0].quantum_us: ", "0.0001"),
    (represented(timing_sample_limit=0), "representations[0].timing_sample_limit: ", "0"),
    (represented(sample_count=0), "representations[0].sample_count: ", "0"),
    (config(replay={"iterations": 0}), "replay.iterations: ", "0"),
    (config(replay={"seeds": [-1]}), "replay.seeds[0]: ", "-1"),
    (config(confidence=2), "confidence: ", "2"),
    (config(tolerances={"tail_recall": 2}), "tolerances.tail_recall: ", "2"),
    (config(thresholds={"p99_threshold_pct": -1}), "thresholds.p99_threshold_pct: ", "-1"),
    (overlap(ranges=["("]), "overlap[0].ranges[0]: ", "'('"),
    (overlap(ranges=["a{99999999999}"]), "overlap[0].ranges[0]: ", "a{99999999999}"),
    (overlap(phase_anchors={"forward": "f", "backward": "b", "step_gap_ms": -1}), "step_gap_ms: ", "-1"),
    (overlap(device=3), "overlap[0].device: ", "3"),
    (
        config() | {"configurations": [{"name": "baseline"}, *({"name": f"c{i}"} for i in range(256))]},
        "configurations: ",
        "257 configurations",
    ),
]


@pytest.mark.parametrize(("document", "place", "value"), CASES)
def test_the_line_names_file_key_and_value(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], document: dict[str, Any], place: str, value: str
) -> None:
    for name in "ef":
        (tmp_path / name).write_text("x")
    file = tmp_path / "campaign.yaml"
    file.write_text(yaml.safe_dump(document))
    assert run(["campaign", "run", str(file)]) == 3
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert said.err.startswith(f"commcanary: {file}: ")
    assert place in said.err
    assert value in said.err.partition(place)[2].partition(";")[0]
    assert said.err.partition("; ")[2].strip()
