"""What is assumed stands in for what is unknown, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from commcanary.artifacts.trace import Trace
from commcanary.compile.compiler import CompileSettings, compile_trace
from commcanary.errors import UnknownValueRefusal
from commcanary.judge.verify_source import verify_source
from commcanary.replay.assumptions import assumed
from commcanary.replay.configuration import Configuration, Protocol
from commcanary.replay.report import Replayer
from commcanary.sources.synthetic.registry import synthetic


@pytest.fixture(scope="module")
def untimed() -> Trace:
    """A workload whose gaps nobody knows, as an execution trace has it: zeros in their place."""
    whole = synthetic("inference", 7, 66)
    header = msgspec.structs.replace(whole.header, unknown={"gap_us": "no times"})
    return Trace.of(header, replace(whole.events, gap_ns=np.zeros(66, np.int64)))


def test_a_placeholder_gap_is_no_gap(untimed: Trace) -> None:
    canary = compile_trace(untimed, CompileSettings())
    assert not canary.events.gaps_known
    with pytest.raises(UnknownValueRefusal, match=r"events\[0\]\.gap_us.*--assume gap_us=VALUE"):
        Replayer(canary, "scheduler-v4").report(Configuration(), Protocol())
    report = Replayer(canary, "scheduler-v4", assumptions={"gap_us": 5}).report(Configuration(), Protocol())
    assert report.header.assumptions == {"gap_us": 5.0}


def test_gaps_that_a_replay_leaves_out_may_be_unknown(untimed: Trace) -> None:
    canary = compile_trace(untimed, CompileSettings())
    without = Replayer(canary, "scheduler-v4", ("queue_reset_gaps",))
    assert without.report(Configuration(), Protocol(ablations=("queue_reset_gaps",))).header.assumptions == {}


def test_assumed_gaps_lie_between_events(untimed: Trace) -> None:
    events, used = assumed(untimed.events, {"gap_us": 5})
    assert events.gap_ns.tolist() == [0, *[5000] * 65]
    assert used == {"gap_us": 5.0}
    assert assumed(events, {"gap_us": 7})[1] == {}  # known now: never touched


def test_a_canary_that_claims_to_know_gaps_is_no_canary_of_an_untimed_source(untimed: Trace) -> None:
    canary = compile_trace(untimed, CompileSettings())
    assert verify_source(untimed, canary).status == "source_verified"
    claimed = replace(canary.stored, header=msgspec.structs.replace(canary.header, gaps_unknown=False))
    verdict = verify_source(untimed, replace(canary, stored=claimed))
    assert verdict.status == "failed"
    assert next(check.place for check in verdict.checks if check.status == "fail") == "gaps_unknown"
