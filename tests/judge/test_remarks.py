"""A verdict says which of its tests nothing could have failed."""

from __future__ import annotations

import pytest

from commcanary.artifacts.trace import Trace
from commcanary.compile.compiler import CompileSettings, compile_trace
from commcanary.judge.behavior import BehaviorVerification
from commcanary.judge.reference import Reference
from commcanary.judge.tolerances import Tolerances
from commcanary.judge.verify_behavior import verify_behavior
from commcanary.replay.configuration import NAMED, Configuration, Protocol

TWO = (NAMED["baseline"], NAMED["congested"])


def verified(trace: Trace, configurations: tuple[Configuration, ...], **tolerances: float) -> BehaviorVerification:
    model = "closed-loop-v1" if "makespan_pct" in tolerances else "scheduler-v4"
    reference = Reference(trace, model, configurations, Protocol())
    return verify_behavior(reference, compile_trace(trace, CompileSettings()), Tolerances(**tolerances))


def test_a_test_under_the_defaults_needs_no_remark(small_trace: Trace) -> None:
    assert verified(small_trace, TWO).remarks == ()


def test_one_configuration_has_no_ranking(small_trace: Trace) -> None:
    found = verified(small_trace, TWO[:1])
    assert found.configuration_ranking_status == "not_applicable"
    assert len(found.remarks) == 1
    assert "1 configuration has no order" in found.remarks[0]


def test_configurations_that_tie_have_no_order(small_trace: Trace) -> None:
    twins = (NAMED["baseline"], Configuration(name="twin"))
    assert ["ranking tests no order" in line for line in verified(small_trace, twins).remarks] == [True]
    assert any("ranking tests no order" in line for line in verified(small_trace, TWO, ranking_tie_us=1e12).remarks)


@pytest.mark.parametrize(
    ("field", "strict", "loose", "said"),
    [
        ("absolute_us", 2.0, 1e12, "tests no latency"),
        ("relative_pct", 99.0, 100.0, "tests no latency"),
        ("makespan_pct", 99.0, 100.0, "tests no makespan"),
        ("hidden_points", 99.0, 100.0, "tests no hidden share"),
        ("tail_recall", 0.01, 0.0, "tests no tail"),
    ],
)
def test_a_tolerance_that_nothing_can_fail_is_remarked(
    small_trace: Trace, field: str, strict: float, loose: float, said: str
) -> None:
    changed, *toothless = verified(small_trace, TWO, **{field: strict}).remarks
    assert f"{field} {strict:g} (default {getattr(Tolerances(), field):g})" in changed
    assert toothless == []
    _, *toothless = verified(small_trace, TWO, **{field: loose}).remarks
    assert [said in line for line in toothless] == [True]
