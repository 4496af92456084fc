"""Numbers that no run can be made with are refused with the path of the key, before any job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from commcanary.campaign.config_file import load_config
from commcanary.errors import InputRefusal

from .test_names import config

HUGE = 10**12


def with_workload(**keys: Any) -> dict[str, Any]:
    return config(workloads=()) | {
        "workloads": [{"name": "w", "source": {"kind": "synth", "name": "inference"}, **keys}]
    }


def synth(**keys: Any) -> dict[str, Any]:
    return with_workload(source={"kind": "synth", "name": "inference", **keys})


def represented(**keys: Any) -> dict[str, Any]:
    return config() | {"representations": [{"name": "canary", "method": "canary", **keys}]}


@pytest.mark.parametrize(
    ("document", "place"),
    [
        (config(replay={"iterations": HUGE}), "replay.iterations"),
        (config(replay={"seeds": [2**63]}), "replay.seeds[0]"),
        (config(null_calibration={"trials": 10**9}), "null_calibration.trials"),
        (config(null_calibration={"seeds": 10**9}), "null_calibration.seeds"),
        (config(null_calibration={"slower_pct": 1e308}), "null_calibration.slower_pct"),
        *(
            (config(tolerances={name: 1e308}), f"tolerances.{name}")
            for name in (
                "absolute_us",
                "relative_pct",
                "makespan_pct",
                "hidden_points",
                "tail_recall",
                "ranking_tie_us",
            )
        ),
        (config(thresholds={"p99_threshold_pct": 1e308}), "thresholds.p99_threshold_pct"),
        (config(thresholds={"p99_absolute_threshold_us": 1e308}), "thresholds.p99_absolute_threshold_us"),
        (config(thresholds={"bimodal_p_value": 2}), "thresholds.bimodal_p_value"),
        (synth(events=HUGE), "workloads[0].source.events"),
        (synth(repeat=HUGE), "workloads[0].source.repeat"),
        (synth(events=20_000_000, repeat=2), "workloads[0].source.repeat"),
        (with_workload(assume={"gap_us": 1e308}), "workloads[0].assume.gap_us"),
        (with_workload(assume={"bytes": 1}), "workloads[0].assume.bytes"),
        (config(policy={"tie_band_points": 1e308}), "policy.tie_band_points"),
        (config(tolerances={"absolute_us": float("nan")}), "tolerances.absolute_us"),
        (with_workload(assume={"gap_us": float("nan")}), "workloads[0].assume.gap_us"),
        (represented(quantum_us=float("inf")), "representations[0].quantum_us"),
        (represented(quantum_us=float("nan")), "representations[0].quantum_us"),
        (config(null_calibration={"slower_pct": float("nan")}), "null_calibration.slower_pct"),
        (
            with_workload(source={"kind": "nsys", "exports": ["e"], "clock_offsets_us": {"0": 1e308}}),
            "workloads[0].source.clock_offsets_us.0",
        ),
        (
            with_workload(source={"kind": "nsys", "exports": ["e"], "trim_s": [0, 1e308]}),
            "workloads[0].source.trim_s[1]",
        ),
        (with_workload(source={"kind": "nsys", "exports": ["e"], "trim_s": [2, 1]}), "workloads[0].source.trim_s"),
        (with_workload(param_dtype="float7"), "workloads[0].param_dtype"),
        (represented(sample_count=HUGE), "representations[0].sample_count"),
        (represented(timing_sample_limit=HUGE), "representations[0].timing_sample_limit"),
        (represented(quantum_us=1e308), "representations[0].quantum_us"),
    ],
)
def test_an_impossible_number_is_refused_at_its_key(tmp_path: Path, document: dict[str, Any], place: str) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(yaml.safe_dump(document))
    with pytest.raises(InputRefusal) as refused:
        load_config(path)
    assert refused.value.place == place


def test_the_largest_possible_numbers_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    document = synth(events=500) | {
        "replay": {"iterations": 100_000, "seeds": [2**63 - 1]},
        "null_calibration": {"trials": 100_000},
        "tolerances": {"relative_pct": 1000.0, "hidden_points": 100.0, "absolute_us": 1e12},
    }
    path.write_text(yaml.safe_dump(document))
    assert load_config(path).replay.iterations == 100_000
    path.write_text(yaml.safe_dump(synth(events=20_000_000)))
    assert load_config(path).replay.iterations == 1
