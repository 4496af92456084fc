"""A canary on a grid of 1 us: what each model makes of half a microsecond, with the controls beside it."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from commcanary.artifacts.trace import Trace
from commcanary.compile.compiler import CompileSettings, compile_trace
from commcanary.controls.registry import make_control
from commcanary.judge.behavior import BehaviorVerification
from commcanary.judge.reference import Reference
from commcanary.judge.verify_behavior import verify_behavior, worst_error_pct
from commcanary.replay.configuration import NAMED, Protocol
from commcanary.sources.kineto.importer import import_kineto
from commcanary.sources.kineto.settings import KinetoSettings
from commcanary.sources.synthetic.registry import synthetic

FIVE = tuple(NAMED.values())
SNAPPED = CompileSettings(quantum_ns=1000)


def verified(trace: Trace, model: str) -> BehaviorVerification:
    return verify_behavior(Reference(trace, model, FIVE, Protocol()), compile_trace(trace, SNAPPED))


@pytest.mark.parametrize(("name", "events"), [("mixed", 1000), ("mixed", 5000), ("ddp", 98)])
def test_closed_loop_verifies_it_under_all_five_configurations(name: str, events: int) -> None:
    found = verified(synthetic(name, 7, events), "closed-loop-v1")
    assert found.status == "behaviorally_verified", found.reasons
    assert [c.status for c in found.configurations] == ["pass"] * 5
    assert found.ranking.agreement == 1.0
    assert worst_error_pct(found) < 50


def test_among_near_ties_which_event_is_slowest_is_not_kept() -> None:
    """Two of 124 events are the p99 tail of a window; where they differ by less than the grid, recall halves."""
    found = verified(synthetic("inference", 7, 990), "closed-loop-v1")
    assert found.status == "failed"
    assert all("tail recall at 99" in reason for reason in found.reasons)
    assert worst_error_pct(found) < 50


def test_scheduler_v4_draws_other_noise_for_it() -> None:
    found = verified(synthetic("mixed", 7, 3000), "scheduler-v4")
    assert found.status == "failed"
    assert any("tail recall" in reason for reason in found.reasons)


def test_fair_controls_fail_beside_it() -> None:
    trace = synthetic("mixed", 7, 1000)
    reference = Reference(trace, "closed-loop-v1", FIVE, Protocol())
    exposed = reference.outcomes["baseline"].exposed_us[0]
    for method in ("cluster", "stratified", "frequency", "random", "isolated"):
        control = make_control(trace, method, exposed_us=exposed)
        found = verify_behavior(reference, compile_trace(control, CompileSettings()))
        assert found.behavioral_fidelity_status == "fail", method
        assert found.configuration_ranking_status == "pass", method  # a ranking that survives proves little


def test_on_a_real_job_of_eight_ranks(shared_traces: Path, tmp_path: Path) -> None:
    with tarfile.open(shared_traces / "kineto" / "dlrm_kineto.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    profiles = sorted(tmp_path.rglob("*.json"))
    trace = import_kineto(profiles, KinetoSettings(estimate_clock=True)).trace
    assert verified(trace, "closed-loop-v1").status == "behaviorally_verified"
    assert verified(trace, "scheduler-v4").status == "failed"
