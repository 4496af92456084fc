"""verify-behavior: the ranking-inversion table of decisions.md section 8, and each status on its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commcanary.artifacts.canary import Canary
from commcanary.artifacts.events import Ragged
from commcanary.artifacts.files import json_bytes
from commcanary.artifacts.stored import Stored
from commcanary.artifacts.trace import Trace
from commcanary.compile.compiler import CompileSettings, compile_trace
from commcanary.controls.registry import make_control
from commcanary.controls.settings import ControlSettings
from commcanary.errors import InputRefusal, UnknownValueRefusal, UsageError
from commcanary.judge.behavior import BEHAVIOR, BehaviorVerification
from commcanary.judge.reference import Reference
from commcanary.judge.tolerances import Tolerances
from commcanary.judge.verify_behavior import behavior_exit_code, verify_behavior, worst_error_pct
from commcanary.replay.configuration import NAMED, Configuration, Protocol
from commcanary.replay.report import Replayer
from commcanary.sources.synthetic.ranking_inversion import CONFIGURATIONS, SEED, ranking_inversion
from commcanary.sources.synthetic.registry import synthetic

LOOSE = Tolerances(absolute_us=1000, relative_pct=1000, hidden_points=100, tail_recall=0, ranking_tie_us=0)
FIVE = tuple(NAMED.values())


def canary_of(trace: Trace, **settings: int) -> Canary:
    return compile_trace(trace, CompileSettings(**settings))


@pytest.fixture(scope="module")
def scaffold() -> Reference:
    return Reference(ranking_inversion(), "scheduler-v4", CONFIGURATIONS, Protocol(seeds=(SEED,)))


def controlled(reference: Reference, method: str, **settings: int) -> Canary:
    return canary_of(make_control(reference.trace, method, ControlSettings(**settings)))


def test_the_lossless_canary_is_verified(scaffold: Reference) -> None:
    found = verify_behavior(scaffold, canary_of(scaffold.trace))
    assert found.status == "behaviorally_verified"
    assert behavior_exit_code(found) == 0
    assert found.representation_fidelity_status == "lossless_timing"
    assert (found.source_verified_status, found.source_coverage_status) == ("source_verified", "full_source")
    assert (found.ranking.agreement, found.ranking.kendall_tau_b) == (1.0, 1.0)
    assert found.ranking.orders[0].source == ("workload-overlap-friendly", "isolated-fast-no-overlap")
    assert found.reasons == ()
    assert worst_error_pct(found) == 0
    assert BEHAVIOR.from_json(json_bytes(BEHAVIOR, Stored(found))).header == found


@pytest.mark.parametrize("tolerances", [Tolerances(), LOOSE], ids=["default", "loose"])
@pytest.mark.parametrize(
    ("method", "settings", "ranking"),
    [
        ("isolated", {}, "fail"),
        ("random", {"sample_count": 8, "seed": 11}, "fail"),
        ("frequency", {}, "fail"),
        ("cluster", {"cluster_count": 2}, "pass"),  # scaled to the same total time it ranks like the workload
    ],
)
def test_weak_controls_fail(
    scaffold: Reference, tolerances: Tolerances, method: str, settings: dict[str, int], ranking: str
) -> None:
    found = verify_behavior(scaffold, controlled(scaffold, method, **settings), tolerances)
    assert found.status == "failed"
    assert behavior_exit_code(found) == 1
    assert (found.source_verified_status, found.source_coverage_status) == ("failed", "not_covered")
    assert found.configuration_ranking_status == ranking
    if tolerances is not LOOSE:
        assert found.behavioral_fidelity_status == "fail"


@pytest.mark.parametrize("clusters", [3, 8])
def test_a_control_that_reproduces_the_workload_is_said_to(scaffold: Reference, clusters: int) -> None:
    found = verify_behavior(scaffold, controlled(scaffold, "cluster", cluster_count=clusters))
    assert found.behavioral_fidelity_status == "pass"
    assert found.configuration_ranking_status == "pass"
    assert found.source_verified_status == "failed"
    assert found.status == "failed"


def test_two_records_miss_the_latencies_but_say_truthfully_by_how_much(scaffold: Reference) -> None:
    found = verify_behavior(scaffold, canary_of(scaffold.trace, timing_sample_limit=2))
    assert found.status == "failed"
    assert found.representation_fidelity_status == "bounded_approximate"
    assert found.source_verified_status == "source_verified"
    assert found.behavioral_fidelity_status == "fail"


def test_the_numbers_are_those_of_reports(scaffold: Reference) -> None:
    canary = canary_of(scaffold.trace, timing_sample_limit=2)
    under = verify_behavior(scaffold, canary).configurations[0]
    report = Replayer(canary, "scheduler-v4").report(CONFIGURATIONS[0], Protocol(seeds=(SEED,))).header
    stated = {check.name: check.canary for check in under.checks}
    assert stated["median_us"] == report.metrics.median_us
    assert stated["communication_hidden_pct"] == report.metrics.communication_hidden_pct
    assert {c.name: c.canary for c in under.queue_wait_checks}["p99_us"] == report.queue_wait.p99_us
    assert {c.name: c.source for c in under.checks}["median_us"] == 127.284


def test_every_failed_check_is_a_reason_with_both_values_and_the_limit(scaffold: Reference) -> None:
    found = verify_behavior(scaffold, canary_of(scaffold.trace, timing_sample_limit=2))
    assert (
        "isolated-fast-no-overlap: median_us is 300.384 where the source has 127.284; within 1 or 10 % is allowed"
        in (found.reasons)
    )


def test_a_window_is_a_part_and_never_verifies_the_whole(small_trace: Trace) -> None:
    reference = Reference(small_trace, "scheduler-v4", FIVE, Protocol())
    found = verify_behavior(reference, canary_of(small_trace.derived(np.arange(3, 20), "window")))
    assert (found.source_verified_status, found.source_coverage_status) == ("partial_source_verified", "partial_source")
    assert found.status == "failed"


def test_equal_counts_are_no_coverage(small_trace: Trace) -> None:
    other = Trace.of(small_trace.header, small_trace.events.take(np.arange(len(small_trace))[::-1].copy()))
    found = verify_behavior(Reference(small_trace, "scheduler-v4", FIVE, Protocol()), canary_of(other))
    assert found.source_events == found.canary_events
    assert found.source_coverage_status == "not_covered"


def test_an_assumption_blocks_the_strong_verdict_and_nothing_else(small_trace: Trace) -> None:
    unknown = replace(small_trace.events, offsets_ns=Ragged.unknown(len(small_trace)))
    trace = Trace.of(small_trace.header, unknown)
    with pytest.raises(UnknownValueRefusal, match="--assume"):
        Reference(trace, "scheduler-v4", FIVE, Protocol())
    reference = Reference(trace, "scheduler-v4", FIVE, Protocol(), assumptions={"arrival_skew_us": 0.0})
    found = verify_behavior(reference, canary_of(trace))
    assert found.status == "behaviorally_unverified"
    assert found.blocked_by == ("assumed: arrival_skew_us=0",)
    assert found.assumptions == {"arrival_skew_us": 0.0}
    assert behavior_exit_code(found) == 1


def test_an_assumption_that_was_not_needed_blocks_nothing(small_trace: Trace) -> None:
    reference = Reference(small_trace, "scheduler-v4", FIVE, Protocol(), assumptions={"arrival_skew_us": 0.0})
    assert verify_behavior(reference, canary_of(small_trace)).status == "behaviorally_verified"


def test_capture_uncertainty_blocks_the_strong_verdict(small_trace: Trace) -> None:
    uncertain = np.zeros(len(small_trace), np.bool_)
    uncertain[3] = True
    trace = Trace.of(small_trace.header, replace(small_trace.events, compute_uncertain=uncertain))
    found = verify_behavior(Reference(trace, "scheduler-v4", FIVE, Protocol()), canary_of(trace))
    assert found.status == "behaviorally_unverified"
    assert found.blocked_by == ("uncertain: 1 of 24 events have guessed compute fields",)


def test_a_failure_is_not_softened_by_an_assumption(small_trace: Trace) -> None:
    trace = Trace.of(small_trace.header, replace(small_trace.events, offsets_ns=Ragged.unknown(len(small_trace))))
    reference = Reference(trace, "scheduler-v4", FIVE, Protocol(), assumptions={"arrival_skew_us": 0.0})
    other = canary_of(make_control(trace, "frequency"))
    assert verify_behavior(reference, other).status == "failed"


def test_a_missing_phase_fails(small_trace: Trace) -> None:
    events = small_trace.events
    one_phase = replace(events, signatures=tuple(msgspec.structs.replace(s, phase="decode") for s in events.signatures))
    reference = Reference(small_trace, "scheduler-v4", FIVE[:1], Protocol())
    found = verify_behavior(reference, canary_of(Trace.of(small_trace.header, one_phase)))
    missing = [c for c in found.configurations[0].phase_checks if c.canary is None]
    assert [(c.of, c.name, c.status) for c in missing] == [("prefill", "count", "fail")]


def test_held_out_configurations_are_reported_apart_and_count(scaffold: Reference) -> None:
    reference = Reference(
        scaffold.trace, "scheduler-v4", CONFIGURATIONS, Protocol(seeds=(SEED,)), held_out=(NAMED["congested"],)
    )
    good = verify_behavior(reference, canary_of(scaffold.trace))
    assert good.held_out is not None
    assert [c.name for c in good.held_out.configurations] == ["congested"]
    assert [c.name for c in good.configurations] == [c.name for c in CONFIGURATIONS]
    assert good.status == "behaviorally_verified"
    two = verify_behavior(reference, canary_of(scaffold.trace, timing_sample_limit=2), LOOSE)
    assert two.held_out is not None
    assert two.held_out.status == "pass"


def test_many_seeds_are_pooled(small_trace: Trace) -> None:
    reference = Reference(small_trace, "scheduler-v4", FIVE[:2], Protocol(seeds=(1, 2, 3), iterations=2))
    found: BehaviorVerification = verify_behavior(reference, canary_of(small_trace))
    assert found.configurations[0].checks[0].source == 24 * 6
    assert found.status == "behaviorally_verified"


def test_names_must_be_given_and_differ(small_trace: Trace) -> None:
    for wrong in ((Configuration(),), (NAMED["baseline"], NAMED["baseline"])):
        with pytest.raises(InputRefusal, match="name"):
            Reference(small_trace, "scheduler-v4", wrong, Protocol())
    with pytest.raises(UsageError, match="configuration"):
        Reference(small_trace, "scheduler-v4", (), Protocol())


def test_held_out_configurations_count_for_the_limit(small_trace: Trace) -> None:
    many = [Configuration(name=f"c{i}") for i in range(200)]
    with pytest.raises(UsageError, match="at most 256"):
        Reference(small_trace, "scheduler-v4", many, Protocol(), held_out=many[:57])


@pytest.mark.parametrize(
    ("field", "value"), [("relative_pct", -1.0), ("tail_recall", 1.5), ("absolute_us", float("nan"))]
)
def test_impossible_tolerances_are_refused(field: str, value: float) -> None:
    with pytest.raises(InputRefusal, match=field):
        Tolerances(**{field: value})


def test_a_grid_of_one_nanosecond_changes_nothing() -> None:
    trace = synthetic("mixed", 2, 400)
    reference = Reference(trace, "scheduler-v4", FIVE, Protocol())
    assert verify_behavior(reference, canary_of(trace, quantum_ns=1)).status == "behaviorally_verified"


@settings(max_examples=20, deadline=None)
@given(events=st.integers(1, 40), seed=st.integers(0, 99))
def test_nothing_lost_is_always_verified(small_trace_of: Callable[[int], Trace], events: int, seed: int) -> None:
    order = np.sort(np.random.default_rng(seed).integers(0, events, events))
    whole = small_trace_of(events)
    trace = Trace.of(whole.header, whole.events.take(order))
    found = verify_behavior(Reference(trace, "scheduler-v4", FIVE, Protocol()), canary_of(trace))
    assert found.status == "behaviorally_verified", found.reasons
    assert worst_error_pct(found) == 0


def test_the_makespan_is_compared_where_the_model_has_one() -> None:
    trace = synthetic("mixed", 2, 200)
    open_loop = verify_behavior(Reference(trace, "scheduler-v4", FIVE[:2], Protocol()), canary_of(trace))
    assert all(check.name != "makespan_us" for c in open_loop.configurations for check in c.checks)
    assert "makespan_us" not in {pair.metric for pair in open_loop.ranking.pairwise}
    closed = Reference(trace, "closed-loop-v1", FIVE[:2], Protocol())
    found = verify_behavior(closed, canary_of(trace, quantum_ns=1000))
    assert found.status == "behaviorally_verified", found.reasons
    checks = [check for c in found.configurations for check in c.checks if check.name == "makespan_us"]
    assert len(checks) == 2
    assert all(check.tolerance_pct == 2.0 and check.delta != 0 for check in checks)
    assert {pair.metric for pair in found.ranking.pairwise} >= {"makespan_us", "median_us"}


def test_a_canary_that_takes_longer_fails_by_its_makespan() -> None:
    trace = synthetic("mixed", 2, 200)
    slower = replace(trace.events, compute_before_ns=trace.events.compute_before_ns + 20_000)
    changed = Trace.of(trace.header, slower)
    found = verify_behavior(Reference(trace, "closed-loop-v1", FIVE[:1], Protocol()), canary_of(changed))
    assert any("makespan_us is" in reason for reason in found.reasons)
