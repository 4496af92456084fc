"""Ranges of configuration and protocol; the five named configurations."""

from __future__ import annotations

import math
from typing import Any

import pytest

from commcanary.errors import InputRefusal, UsageError
from commcanary.replay.configuration import NAMED, Configuration, Protocol, as_read, changed
from commcanary.replay.model import MODELS, model_named


def test_the_five_named_configurations() -> None:
    values = {
        name: (c.bandwidth_gbps, c.latency_floor_us, c.compute_pressure, c.overlap_efficiency)
        for name, c in NAMED.items()
    }
    assert values == {
        "baseline": (55.0, 7.5, 0.55, 0.72),
        "low_latency": (55.0, 3.5, 0.55, 0.72),
        "high_bandwidth": (110.0, 10.0, 0.55, 0.72),
        "overlap_friendly": (55.0, 9.0, 0.55, 0.95),
        "congested": (28.0, 7.5, 0.95, 0.72),
    }
    assert all(c.name == name and c.label == "simulated-nccl" for name, c in NAMED.items())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("bandwidth_gbps", 0),
        ("bandwidth_gbps", -1.0),
        ("bandwidth_gbps", 1e-300),
        ("latency_floor_us", 1e308),
        ("compute_pressure", 1e308),
        ("transfer_slowdown", 1e308),
        ("latency_floor_us", -0.001),
        ("compute_pressure", -1),
        ("overlap_efficiency", 1.0001),
        ("overlap_efficiency", -0.1),
        ("compute_slowdown", -0.1),
        ("transfer_slowdown", -0.1),
        ("transfer_slowdown", True),
        ("bandwidth_gbps", "55"),
        *[
            (field, value)
            for value in (math.nan, math.inf, -math.inf)
            for field in Configuration.__struct_fields__
            if field not in ("label", "name")
        ],
    ],
)
def test_a_value_out_of_range_is_refused_by_name(field: str, value: Any) -> None:
    with pytest.raises(InputRefusal) as caught:
        Configuration(**{field: value})
    assert caught.value.place == field
    assert repr(value) in caught.value.found
    assert "finite number" in caught.value.remedy


@pytest.mark.parametrize("field", ["label", "name"])
@pytest.mark.parametrize("text", ["", " ", "two\nlines", "tab\t", "\x1b[31mred", "\u202edetsegnoc", "congested "])
def test_a_text_that_does_not_show_as_it_is_is_refused(field: str, text: str) -> None:
    with pytest.raises(InputRefusal) as caught:
        Configuration(**{field: text})
    assert caught.value.place == field


@pytest.mark.parametrize(
    ("name", "numbers", "place"),
    [
        ("congested", {}, "bandwidth_gbps"),
        ("congested", {"bandwidth_gbps": 28}, "compute_pressure"),
        ("baseline", {"compute_slowdown": 3.0}, "compute_slowdown"),
        ("baseline", {"overlap_efficiency": 0.73}, "overlap_efficiency"),
    ],
)
def test_a_known_name_stands_for_its_numbers(name: str, numbers: dict[str, float], place: str) -> None:
    with pytest.raises(InputRefusal) as caught:
        Configuration(name=name, **numbers)  # type: ignore[arg-type]
    assert caught.value.place == place
    assert name in caught.value.found


def test_a_changed_configuration_bears_another_name() -> None:
    assert changed("congested", {}) == changed("congested", {"bandwidth_gbps": 28.0}) == NAMED["congested"]
    assert changed("congested", {"bandwidth_gbps": 55.0, "compute_pressure": 0.55}) == Configuration(
        name="congested+changed"
    )


def test_only_what_a_model_reads_is_stated() -> None:
    given = Configuration(name="own", bandwidth_gbps=20, overlap_efficiency=0.5, compute_slowdown=0.25)
    stated = {name: as_read(given, model_named(name).reads) for name in MODELS}
    assert stated == {
        "scheduler-v4": Configuration(name="own", bandwidth_gbps=20, overlap_efficiency=0.5),
        "closed-loop-v1": Configuration(name="own", bandwidth_gbps=20, compute_slowdown=0.25),
    }
    assert as_read(NAMED["overlap_friendly"], model_named("closed-loop-v1").reads) == NAMED["overlap_friendly"]


def test_whole_numbers_are_stored_as_floats() -> None:
    assert repr(Configuration(bandwidth_gbps=110).bandwidth_gbps) == "110.0"


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"seeds": ()}, "seeds"),
        ({"seeds": (7, 7)}, "seeds[1]"),
        ({"seeds": (1.5,)}, "seeds[0]"),
        ({"seeds": (2**63,)}, "seeds[0]"),
        ({"seeds": (-1,)}, "seeds[0]"),
        ({"iterations": 10**12}, "iterations"),
        ({"seeds": (True,)}, "seeds[0]"),
        ({"iterations": 0}, "iterations"),
        ({"iterations": 1.0}, "iterations"),
        ({"ablations": ("noise", "tails")}, "ablations[1]"),
        ({"ablations": ("noise", "noise")}, "ablations[1]"),
    ],
)
def test_a_protocol_that_is_refused(fields: dict[str, Any], place: str) -> None:
    with pytest.raises(InputRefusal) as caught:
        Protocol(**fields)
    assert caught.value.place == place


def test_the_order_of_ablations_is_no_difference() -> None:
    assert Protocol(ablations=("pressure", "noise")) == Protocol(ablations=("noise", "pressure"))


def test_models_are_found_by_name() -> None:
    assert [model_named(name).name for name in MODELS] == list(MODELS)
    with pytest.raises(UsageError, match=r"'v4'.*scheduler-v4"):
        model_named("v4")
