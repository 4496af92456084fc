"""False alarms over nothing and slower tails caught: counts, outcomes and the slower tail itself."""

from __future__ import annotations

import numpy as np
import pytest

from commcanary.artifacts.canary import Canary
from commcanary.compile.compiler import CompileSettings, compile_trace
from commcanary.judge.null_calibration import (
    CalibrationSettings,
    Rate,
    _outcome,
    longer_tail,
    null_calibration,
)
from commcanary.replay.configuration import NAMED, Configuration, Protocol
from commcanary.replay.report import Replayer, samples_of
from commcanary.sources.synthetic.registry import synthetic


@pytest.fixture(scope="module")
def canary() -> Canary:
    return compile_trace(synthetic("inference", 7, 66), CompileSettings())


@pytest.mark.parametrize(
    ("low", "high", "caught", "outcome"),
    [
        (0.0, 0.019, 1.0, "trusted"),
        (0.0, 0.050, 0.99, "trusted"),
        (0.003, 0.089, 1.0, "undecided"),
        (0.058, 0.222, 1.0, "not_trusted"),
        (0.0, 0.019, 0.985, "not_trusted"),
    ],
)
def test_an_outcome_needs_the_whole_interval(low: float, high: float, caught: float, outcome: str) -> None:
    alarms = Rate(hits=0, share=0.0, interval=(low, high), verdicts={})
    assert _outcome(alarms, Rate(hits=0, share=caught, interval=(0.0, 1.0), verdicts={}), 0.05) == outcome


def test_a_longer_tail_moves_the_samples_above_p95_alone(canary: Canary) -> None:
    report = Replayer(canary, "scheduler-v4").report(Configuration(), Protocol(seeds=(1, 2)))
    assert report.table is not None
    before = samples_of(report.table)
    slower = longer_tail(report, canary, 20)
    assert slower.table is not None
    after = samples_of(slower.table)
    exposed = sorted(before.exposed_us.tolist())
    at = (len(exposed) - 1) * 0.95
    p95 = exposed[int(at)] + (exposed[int(at) + 1] - exposed[int(at)]) * (at - int(at))
    for was, now, total, total_now in zip(
        before.exposed_us, after.exposed_us, before.total_us, after.total_us, strict=True
    ):
        assert now == pytest.approx(was * 1.2 if was > p95 else was, rel=1e-12)
        assert total_now - total == pytest.approx(now - was, abs=1e-6)
    assert slower.header.metrics.max_us == pytest.approx(report.header.metrics.max_us * 1.2, abs=0.001)
    assert slower.header.metrics.median_us == report.header.metrics.median_us


def test_every_trial_is_counted_once_and_the_same_again(canary: Canary) -> None:
    settings = CalibrationSettings(seeds=10, trials=3)
    first = null_calibration(canary, "scheduler-v4", NAMED["baseline"], settings)
    assert first == null_calibration(canary, "scheduler-v4", NAMED["baseline"], settings)
    assert [gate.gate for gate in first.gates] == ["plain", "confidence"]
    for gate in first.gates:
        for rate in (gate.false_alarms, gate.caught):
            assert sum(rate.verdicts.values()) == 3
            assert rate.interval[0] <= rate.share <= rate.interval[1]
        assert gate.caught.verdicts == {"fail": 3}  # at 66 events a tail 20 % slower is far over the threshold
    assert not np.isnan(first.gates[0].false_alarms.share)
