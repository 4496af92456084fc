"""Exchange rows against replay-models section 1, computed by hand or by an independent twin."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commcanary.artifacts.events import UNKNOWN
from commcanary.artifacts.trace import Trace
from commcanary.artifacts.trace_exchange import read_exchange

EVENT = {"op": "all_reduce", "bytes": 1024, "ranks": 2}


def read(*events: dict[str, Any], **top: Any) -> Trace:
    return read_exchange(json.dumps({"format": "commcanary.trace.v1", "events": list(events), **top}).encode())


def test_defaults_of_a_bare_event() -> None:
    trace = read(EVENT)
    events = trace.events
    signature = events.signatures[0]
    assert (signature.phase, events.groups[0].name, events.groups[0].members) == ("unknown", "default", (0, 1))
    assert (signature.concurrent_groups, signature.custom_op) == (1, False)
    assert events.gap_ns.tolist() == [0]
    assert events.offsets_ns.row(0) == [0, 0]
    assert events.compute_before_ns.tolist() == [UNKNOWN]
    assert events.compute_overlap_ns.tolist() == [0]
    assert events.compute_pressure.tolist() == [0.5]
    assert events.observed_exposed_ns.tolist() == [UNKNOWN]
    assert not trace.header.notes


def test_unknown_is_not_zero() -> None:
    trace = read(
        {**EVENT, "arrival_skew_unknown": True, "compute_overlap_unknown": True, "compute_fields_uncertain": True},
        {**EVENT, "rank_arrival_us": None, "compute_overlap_us": None},
        {**EVENT, "arrival_skew_us": None},
    )
    assert [trace.events.offsets_ns.row(i) for i in range(3)] == [None, None, None]
    assert trace.events.skew_ns.tolist() == [UNKNOWN] * 3
    assert trace.events.compute_overlap_ns.tolist() == [UNKNOWN, UNKNOWN, 0]
    assert trace.events.compute_uncertain.tolist() == [True, False, False]


def test_sparse_ranks_keep_their_order() -> None:
    trace = read({**EVENT, "ranks": [7, 3, 5], "rank_arrival_us": {"3": 12.0, "5": 10.0, "7": 10.5}})
    assert trace.events.groups[0].ranks == (7, 3, 5)
    assert trace.events.offsets_ns.row(0) == [500, 2000, 0]
    assert trace.events.skew_ns.tolist() == [2000]


def test_skew_alone_goes_to_the_last_rank() -> None:
    assert read({**EVENT, "ranks": 3, "arrival_skew_us": 4.5}).events.offsets_ns.row(0) == [0, 0, 4500]
    both = read({**EVENT, "rank_arrival_us": [5, 7.001], "arrival_skew_us": 2})
    assert both.events.offsets_ns.row(0) == [0, 2001]  # within 0.001 us; the arrivals are what counts


def test_all_starts_sort_stably_and_give_the_gaps() -> None:
    rows = [{**EVENT, "phase": p, "start_us": s} for p, s in (("c", 30.0), ("a", 10.0), ("b", 10.0), ("d", 30.0005))]
    rows[1]["gap_us"] = 4.0  # of the first event in time
    trace = read(*rows)
    assert [trace.events.signatures[i].phase for i in trace.events.signature] == ["a", "b", "c", "d"]
    assert trace.events.gap_ns.tolist() == [4000, 0, 20000, 0]  # 30.0005 us is 30,000.5 ns: half to even
    assert trace.start_ns.tolist() == [10_000, 10_000, 30_000, 30_000]
    assert trace.header.notes["rounding"] == {"count": 1, "largest_ns": 0.5}


def test_a_given_gap_may_be_a_nanosecond_off() -> None:
    assert read({**EVENT, "start_us": 0}, {**EVENT, "start_us": 5, "gap_us": 5.001}).events.gap_ns.tolist() == [0, 5000]


def test_without_starts_the_gap_is_given_or_compute_before_or_zero() -> None:
    trace = read({**EVENT, "gap_us": 3}, {**EVENT, "compute_before_us": 0.0015}, EVENT)
    assert trace.events.gap_ns.tolist() == [3000, 2, 0]
    assert trace.events.compute_before_ns.tolist() == [UNKNOWN, 2, UNKNOWN]
    assert trace.header.notes["rounding"] == {"count": 1, "largest_ns": 0.5}


def test_some_starts_need_every_gap() -> None:
    trace = read({**EVENT, "gap_us": 3, "start_us": 9}, {**EVENT, "gap_us": 1})
    assert trace.events.gap_ns.tolist() == [3000, 1000]
    assert trace.start_ns.tolist() == [9000, UNKNOWN]


def test_consumers_are_named_by_text_or_number() -> None:
    trace = read({**EVENT, "consumed_by": 7}, {**EVENT, "id": "x", "consumed_by": "7"}, {**EVENT, "id": 7})
    assert trace.events.consumer.tolist() == [2, 2, UNKNOWN]
    assert trace.ids == (None, "x", "7")


def test_consumers_follow_the_order_in_time() -> None:
    late = {**EVENT, "start_us": 5, "id": "late"}
    trace = read(late, {**EVENT, "start_us": 1, "consumed_by": "late"})
    assert trace.events.consumer.tolist() == [1, UNKNOWN]


def test_ids_that_nothing_names_may_repeat() -> None:
    assert read({**EVENT, "id": "a"}, {**EVENT, "id": "a"}).ids == ("a", "a")


def test_ignored_fields_are_counted_and_are_not_content() -> None:
    odd = read({**EVENT, "colour": 1}, {**EVENT, "colour": 2, "shape": {}}, vendor="x")
    assert odd.header.notes["ignored_fields"] == {"colour": 2, "shape": 1, "vendor": 1}
    assert odd.content_id == read(EVENT, EVENT).content_id


def test_groups_and_operations_are_numbered_by_first_use() -> None:
    rows = [{**EVENT, "group": g, "bytes": b} for g, b in (("b", 2), ("a", 1), ("b", 1), ("b", 2))]
    events = read(*rows).events
    assert [g.name for g in events.groups] == ["b", "a"]
    assert events.signature.tolist() == [0, 1, 2, 0]
    assert [s.group for s in events.signatures] == [0, 1, 0]


times_us = st.integers(0, 4000).map(lambda n: n / 4) | st.decimals(0, 10**6, places=5).map(float)


@given(st.lists(st.lists(times_us, min_size=3, max_size=3), min_size=1, max_size=5), st.data())
def test_offsets_are_whole_ns_from_the_first_arrival(arrivals: list[list[float]], data: st.DataObject) -> None:
    order = data.draw(st.permutations([4, 1, 9]))
    rows = []
    for row in arrivals:
        named = {str(rank): us for rank, us in zip(order, row, strict=True)}
        shuffled = {key: named[key] for key in data.draw(st.permutations(list(named)))}
        rows.append({**EVENT, "ranks": order, "rank_arrival_us": data.draw(st.sampled_from([row, shuffled]))})
    trace = read(*rows)
    for index, row in enumerate(arrivals):
        ns = [round(Fraction(us * 1000)) for us in row]  # half to even, as Python's round of a fraction
        assert trace.events.offsets_ns.row(index) == [value - min(ns) for value in ns]


@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from("ab")), min_size=1, max_size=8))
def test_order_in_time_against_a_sorted_list(starts: list[tuple[int, str]]) -> None:
    trace = read(*({**EVENT, "start_us": start, "phase": phase} for start, phase in starts))
    ordered = sorted(starts, key=lambda pair: pair[0])
    assert [trace.events.signatures[i].phase for i in trace.events.signature] == [phase for _, phase in ordered]
    gaps = [0, *(1000 * (b[0] - a[0]) for a, b in pairwise(ordered))]
    assert trace.events.gap_ns.tolist() == gaps


@pytest.mark.parametrize("us", [0.0, 1e12, 0.001, 123456789.123])
def test_whole_nanoseconds_are_not_counted_as_rounded(us: float) -> None:
    assert "rounding" not in read({**EVENT, "gap_us": us}).header.notes
