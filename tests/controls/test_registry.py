"""Every control: fair scaling, lineage, refusals. Expected numbers are worked by hand."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commcanary.artifacts.trace import Trace
from commcanary.artifacts.trace_checks import check_trace
from commcanary.controls.registry import METHODS, is_control, make_control
from commcanary.controls.settings import ControlSettings
from commcanary.errors import InputRefusal, UsageError

Build = Callable[..., Trace]


def test_isolated_is_one_bare_event_per_shape_over_the_same_time(trace_of: Build) -> None:
    trace = trace_of([10, 20, 30, 41], skew_us=[5, 0, 7, 0], overlap_us=[9, 9, 9, 9], signature=[1, 0, 1, 0])
    control = make_control(trace, "isolated").events
    assert [control.signatures[s].op for s in control.signature] == ["all_gather", "all_reduce"]
    assert control.skew_ns.tolist() == [0, 0]
    assert control.compute_overlap_ns.tolist() == [0, 0]
    assert control.gap_ns.tolist() == [50_500, 50_500]


def test_isolated_knows_that_a_lone_collective_has_no_skew(trace_of: Build) -> None:
    control = make_control(trace_of([1, 1], skew_us=[None, None], overlap_us=[None, None]), "isolated").events
    assert control.offsets_ns.row(0) == [0, 0]
    assert control.compute_overlap_ns.tolist() == [0]


def test_random_is_the_sorted_sample_of_the_standard_library_tiled(trace_of: Build) -> None:
    trace = trace_of([1] * 20, overlap_us=list(range(20)))
    control = make_control(trace, "random", ControlSettings(sample_count=8, seed=11)).events
    drawn = sorted(random.Random(11).sample(range(20), 8))
    assert control.compute_overlap_ns.tolist() == [i * 1000 for i in (drawn * 3)[:20]]


def test_random_of_fewer_events_than_samples_takes_them_all(trace_of: Build) -> None:
    trace = trace_of([3, 1, 2], overlap_us=[7, 8, 9])
    control = make_control(trace, "random", ControlSettings(sample_count=8)).events
    assert control.compute_overlap_ns.tolist() == [7000, 8000, 9000]
    assert control.gap_ns.tolist() == [3000, 1000, 2000]


def test_frequency_puts_the_medoid_everywhere(trace_of: Build) -> None:
    # overlap 0, 10, 20, 50: median 15, scaled by 50; 10 and 20 tie, the smaller index wins
    trace = trace_of([4, 4, 4, 4], overlap_us=[0, 20, 10, 50])
    assert make_control(trace, "frequency").events.compute_overlap_ns.tolist() == [20_000] * 4


def test_frequency_ignores_a_column_that_some_member_does_not_know(trace_of: Build) -> None:
    trace = trace_of([4, 4, 4], overlap_us=[0, None, 90], pressure=[0.1, 0.9, 0.5])
    assert make_control(trace, "frequency").events.compute_pressure.tolist() == [0.5] * 3


def test_scaling_keeps_proportions_and_the_exact_total(trace_of: Build) -> None:
    # medoid of gaps 1, 2, 9 is 2; three of them make 6, scaled to 12
    assert make_control(trace_of([1, 2, 9]), "frequency").events.gap_ns.tolist() == [4000, 4000, 4000]


def test_cluster_needs_three_medoids_for_three_kinds(trace_of: Build) -> None:
    gaps, skews = [1, 1, 300, 1, 1], [0, 90, 0, 0, 90]
    trace = trace_of(gaps, skew_us=skews)
    two = make_control(trace, "cluster", ControlSettings(cluster_count=2)).events
    three = make_control(trace, "cluster", ControlSettings(cluster_count=3)).events
    assert three.gap_ns.tolist() == [g * 1000 for g in gaps]
    assert three.skew_ns.tolist() == [s * 1000 for s in skews]
    assert len({*zip(two.gap_ns.tolist(), two.skew_ns.tolist(), strict=True)}) == 2


def test_cluster_uses_true_gaps_never_compute_before(trace_of: Build) -> None:
    trace = trace_of([5, 5, 500, 5], before_us=[7, 7, 7, 7])
    assert make_control(trace, "cluster").events.gap_ns.tolist() == [5000, 5000, 500_000, 5000]


def test_stratified_draws_within_each_stratum_of_exposed_latency(trace_of: Build) -> None:
    exposed = np.array([8.0, 1.0, 7.0, 2.0, 6.0, 3.0, 5.0, 4.0])
    trace = trace_of([1] * 8, overlap_us=list(range(8)))
    control = make_control(trace, "stratified", ControlSettings(seed=5), exposed).events
    source = control.compute_overlap_ns // 1000
    generator = random.Random(5)
    for stratum in ([1, 3], [5, 7], [6, 4], [2, 0]):
        assert source[stratum].tolist() == [stratum[generator.randrange(2)]] * 2


def test_positions_keep_their_own_message_numbers_and_consumers(trace_of: Build) -> None:
    trace = trace_of([1, 1, 1], overlap_us=[1, 2, 3], message_sequence=[4, 5, 6], consumer=[2, -1, -1])
    control = make_control(trace, "frequency").events
    assert control.message_sequence.tolist() == [4, 5, 6]
    assert control.consumer.tolist() == [2, -1, -1]


def test_lineage_names_the_original_and_the_method(trace_of: Build) -> None:
    trace = trace_of([1, 2, 3])
    control = make_control(trace, "random", ControlSettings(sample_count=2, seed=3))
    lineage = control.header.lineage
    assert lineage is not None
    assert (lineage.derived_from, lineage.method, lineage.source_events) == (trace.content_id, "random", 3)
    assert control.header.workload["control"] == {"method": "random", "sample_count": 2, "seed": 3}


def test_unknown_method_missing_latencies_and_wrong_counts_are_refused(trace_of: Build) -> None:
    trace = trace_of([1, 2])
    with pytest.raises(UsageError, match="isolated, random"):
        make_control(trace, "medoid")
    with pytest.raises(UsageError, match="reference replay"):
        make_control(trace, "stratified")
    with pytest.raises(InputRefusal, match="3 values for 2 events"):
        make_control(trace, "stratified", None, np.zeros(3))
    with pytest.raises(InputRefusal, match="cluster_count"):
        ControlSettings(cluster_count=0)


@pytest.mark.parametrize(
    ("method", "expected"), [("cluster", True), ("window+random", True), ("window", False), ("ddmin_ranking", False)]
)
def test_is_control(method: str, expected: bool) -> None:
    assert is_control(method) is expected


rows_of_events = st.lists(
    st.tuples(st.integers(0, 400), st.integers(0, 50), st.integers(0, 90), st.integers(0, 2)), min_size=1, max_size=40
)


@given(rows=rows_of_events, method=st.sampled_from(METHODS), seed=st.integers(0, 9))
def test_every_control_is_a_fair_trace_of_the_same_shapes(
    trace_of: Build, rows: list[tuple[int, int, int, int]], method: str, seed: int
) -> None:
    gaps, skews, overlaps, kinds = (list(column) for column in zip(*rows, strict=True))
    trace = trace_of(gaps, skew_us=skews, overlap_us=overlaps, signature=kinds)
    exposed = np.random.default_rng(seed).random(len(rows))
    control = make_control(trace, method, ControlSettings(seed=seed), exposed)
    check_trace(control.events, control.start_ns)
    assert int(control.events.gap_ns.sum()) == sum(gaps) * 1000
    assert len(control) == (len(set(kinds)) if method == "isolated" else len(rows))
    if method in ("frequency", "cluster", "stratified"):
        names = [control.events.signatures[s] for s in control.events.signature]
        assert names == [trace.events.signatures[s] for s in trace.events.signature]
