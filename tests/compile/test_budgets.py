"""A budget that is not met: the achieved number, and a setting that meets it when tried."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import events, times

from commcanary.artifacts.canary import Fidelity
from commcanary.artifacts.trace import Trace, TraceHeader
from commcanary.compile.compiler import CompileSettings, compile_trace
from commcanary.compile.fidelity import ERROR_FIELDS, check_budget
from commcanary.compile.meeting_budget import sufficient_limit, sufficient_quantum_ns
from commcanary.errors import EXIT_REFUSED, BudgetRefusal
from commcanary.sources.synthetic.mixed import mixed

MIXED = mixed(2, 20_000)
TRACE = Trace.of(TraceHeader(), MIXED.events.take(np.flatnonzero(MIXED.events.signature == 0)))
"""Some 280 events of one operation."""


def refused(settings: CompileSettings) -> BudgetRefusal:
    with pytest.raises(BudgetRefusal) as caught:
        compile_trace(TRACE, settings)
    assert caught.value.exit_code == EXIT_REFUSED
    return caught.value


def test_the_line_that_users_know() -> None:
    with pytest.raises(BudgetRefusal) as caught:
        check_budget(Fidelity("bounded_approximate", max_skew_error_us=2.779), {"max_skew_error_us": 0.1}, lambda: "x")
    assert str(caught.value) == "timing fidelity max_skew_error_us=2.779 us exceeds budget 0.1 us; x"


@pytest.mark.parametrize("field", ERROR_FIELDS)
def test_every_field_has_a_budget(field: str) -> None:
    stated = Fidelity("bounded_approximate", **{field: 0.25})
    check_budget(stated, {field: 0.25}, lambda: "x")
    with pytest.raises(BudgetRefusal, match=f"timing fidelity {field}=0.25"):
        check_budget(stated, {field: 0.249}, lambda: "x")


def test_the_limit_that_is_named_is_the_smallest_doubling_that_works() -> None:
    budget = {"max_compute_before_error_us": 20.0}
    refusal = refused(CompileSettings(timing_sample_limit=1, budget=budget))
    named = re.search(r"--timing-sample-limit (\d+)", refusal.remedy)
    assert named is not None
    limit = int(named[1])
    compile_trace(TRACE, CompileSettings(timing_sample_limit=limit, budget=budget))
    refused(CompileSettings(timing_sample_limit=limit // 2, budget=budget))


def test_the_grid_that_is_named_works() -> None:
    budget = {"max_gap_error_us": 0.7, "max_arrival_offset_error_us": 0.3}
    refusal = refused(CompileSettings(quantum_ns=5000, budget=budget))
    assert refusal.remedy == "--quantum-us 0.6 would meet it, --lossless-timing always does"
    assert (
        compile_trace(TRACE, CompileSettings(quantum_ns=600, budget=budget)).header.compiler.fidelity_budget == budget
    )


def test_nothing_lossy_meets_zero() -> None:
    refusal = refused(CompileSettings(timing_sample_limit=1, budget={"max_skew_error_us": 0.0}))
    assert refusal.remedy == "only --lossless-timing meets it"
    compile_trace(TRACE, CompileSettings(budget=dict.fromkeys(ERROR_FIELDS, 0.0)))


budgets = st.dictionaries(
    st.sampled_from([f for f in ERROR_FIELDS if f != "max_pressure_error"]),
    st.integers(0, 4000).map(lambda n: n / 1000),
)


@given(events(largest=times), budgets)
def test_a_grid_that_is_promised_is_kept(rows: object, budget: dict[str, float]) -> None:
    quantum = sufficient_quantum_ns(budget)
    if quantum:
        trace = Trace.of(TraceHeader(), rows)  # type: ignore[arg-type]
        compile_trace(trace, CompileSettings(quantum_ns=quantum, budget=budget))


@given(events(largest=times), budgets)
def test_a_limit_that_is_promised_is_kept(rows: object, budget: dict[str, float]) -> None:
    trace = Trace.of(TraceHeader(), rows)  # type: ignore[arg-type]
    limit = sufficient_limit(trace.events, 1, budget)
    if limit is not None:
        compile_trace(trace, CompileSettings(timing_sample_limit=limit, budget=budget))
