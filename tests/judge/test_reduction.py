"""reduce: the ranking-inversion scaffold shrinks to one event under the five configurations."""

from __future__ import annotations

import pytest

from commcanary.compile.compiler import CompileSettings, compile_trace
from commcanary.judge.reduction import reduce_to_ranking
from commcanary.judge.reference import Reference
from commcanary.judge.verify_behavior import verify_behavior
from commcanary.replay.configuration import NAMED, Protocol
from commcanary.sources.synthetic.ranking_inversion import SEED, ranking_inversion


@pytest.fixture(scope="module")
def reference() -> Reference:
    return Reference(ranking_inversion(), "scheduler-v4", tuple(NAMED.values()), Protocol(seeds=(SEED,)))


def test_a_hundred_events_become_one_in_six_questions(reference: Reference) -> None:
    found = reduce_to_ranking(reference)
    assert len(found.trace) == 1
    assert found.oracle_calls <= 6
    assert found.trace.header.workload["reduction"] == {
        "method": "ddmin_ranking",
        "original_events": 100,
        "reduced_events": 1,
        "oracle_calls": found.oracle_calls,
        "oracle_call_budget": 256,
        "budget_exhausted": False,
        "ranking_metrics": ["median_us", "p95_us", "p99_us", "mean_us"],
        "ranking_tie_tolerance_us": 0.001,
        "configurations": list(NAMED),
        "timing_sample_limit": None,
    }


def test_the_one_event_keeps_the_ranking_and_fails_everything_else(reference: Reference) -> None:
    reduced = reduce_to_ranking(reference).trace
    found = verify_behavior(reference, compile_trace(reduced, CompileSettings()))
    assert found.configuration_ranking_status == "pass"
    assert found.behavioral_fidelity_status == "fail"
    assert found.source_coverage_status == "partial_source"
    assert found.status == "failed"


def test_a_spent_budget_is_said(reference: Reference) -> None:
    found = reduce_to_ranking(reference, budget=2)
    assert found.budget_exhausted
    assert len(found.trace) == 25
    assert found.trace.header.workload["reduction"]["budget_exhausted"] is True
