"""The scaffold against the published figures of decisions.md section 8."""

from __future__ import annotations

import pytest

from commcanary.artifacts.trace import Trace
from commcanary.artifacts.trace_checks import check_trace
from commcanary.controls.registry import make_control
from commcanary.controls.settings import ControlSettings
from commcanary.replay.metrics import latency_summary
from commcanary.replay.model import model_named
from commcanary.sources.synthetic.ranking_inversion import CONFIGURATIONS, SEED, ranking_inversion


def medians(trace: Trace) -> list[float]:
    model = model_named("scheduler-v4")
    prepared = model.prepare(trace.events)
    return [latency_summary(model.run(prepared, c, (SEED,), 1).exposed_us).median_us for c in CONFIGURATIONS]


def test_it_is_a_sound_trace_of_100_events() -> None:
    trace = ranking_inversion()
    check_trace(trace.events, trace.start_ns)
    assert len(trace) == 100
    assert trace.events.gap_ns.sum() == (95 * 1 + 5 * 500) * 1000


def test_the_isolated_collective_and_the_workload_disagree() -> None:
    trace = ranking_inversion()
    assert medians(make_control(trace, "isolated")) == [12.834, 13.834]
    assert medians(trace) == [127.284, 127.042]


def test_three_clusters_reproduce_the_workload() -> None:
    trace = ranking_inversion()
    assert medians(make_control(trace, "cluster", ControlSettings(cluster_count=3))) == [127.284, 127.042]


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("random", ControlSettings(sample_count=8, seed=11)),
        ("frequency", ControlSettings()),
        ("cluster", ControlSettings(cluster_count=2)),
    ],
)
def test_weak_controls_miss_the_median_by_far(method: str, settings: ControlSettings) -> None:
    trace = ranking_inversion()
    for control, source in zip(medians(make_control(trace, method, settings)), medians(trace), strict=True):
        assert abs(control - source) > 0.1 * source
