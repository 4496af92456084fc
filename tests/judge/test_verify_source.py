"""verify-source: true canaries pass, and every lie is named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commcanary.artifacts.canary import Canary
from commcanary.artifacts.events import Ragged
from commcanary.artifacts.stored import Stored
from commcanary.artifacts.trace import Trace
from commcanary.compile.compiler import CompileSettings, compile_trace
from commcanary.compile.sizes import with_stated_size
from commcanary.controls.registry import make_control
from commcanary.controls.settings import ControlSettings
from commcanary.errors import InputRefusal
from commcanary.judge.canary_walk import walk
from commcanary.judge.verify_source import source_exit_code, verify_source
from commcanary.sources.synthetic.registry import synthetic

SETTINGS = (
    CompileSettings(),
    CompileSettings(timing_sample_limit=1),
    CompileSettings(timing_sample_limit=5),
    CompileSettings(quantum_ns=500),
)


def failed(trace: Trace, canary: Canary) -> dict[str, Any]:
    found = verify_source(trace, canary)
    return {check.name: check for check in found.checks if check.status == "fail"}


def relabelled(canary: Canary, **compiler: Any) -> Canary:
    header = canary.header
    changed = msgspec.structs.replace(header, compiler=msgspec.structs.replace(header.compiler, **compiler))
    return Canary(Stored(changed, canary.stored.table))


def with_column(canary: Canary, name: str, change: Callable[[list[Any]], list[Any]]) -> Canary:
    table = canary.stored.table
    assert table is not None
    column = pa.array(change(table.column(name).to_pylist()), table.schema.field(name).type)
    return Canary(Stored(canary.header, table.set_column(table.schema.get_field_index(name), name, column)))


@pytest.mark.parametrize("compiled", SETTINGS, ids=str)
def test_a_true_canary_is_verified(small_trace: Trace, compiled: CompileSettings) -> None:
    for trace in (small_trace, synthetic("mixed", 3, 300), synthetic("inference", 3, 200)):
        found = verify_source(trace, compile_trace(trace, compiled))
        assert found.status == "source_verified", [c for c in found.checks if c.status == "fail"]
        assert source_exit_code(found) == 0


@settings(max_examples=40, deadline=None)
@given(events=st.integers(1, 60), compiled=st.sampled_from(SETTINGS), seed=st.integers(0, 99))
def test_the_walk_finds_the_events_that_the_canary_replays(
    small_trace_of: Callable[[int], Trace], events: int, compiled: CompileSettings, seed: int
) -> None:
    trace = small_trace_of(events)
    order = np.sort(np.random.default_rng(seed).integers(0, events, events))
    canary = compile_trace(trace.derived(order, "filter"), compiled)
    ours, theirs = walk(canary, 1000), canary.events
    for name in ("signature", "gap_ns", "compute_before_ns", "compute_overlap_ns", "message_sequence", "consumer"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name)), name
    assert np.array_equal(ours.offsets_ns.values, theirs.offsets_ns.values)


def test_nested_motifs_are_walked() -> None:
    trace = synthetic("inference", 1, 400)
    canary = compile_trace(trace, CompileSettings())
    assert len(canary.header.program) > 1
    assert np.array_equal(walk(canary, 1000).signature, canary.events.signature)


@pytest.mark.parametrize(
    ("field", "value", "check"),
    [
        ("source_content_id", "0" * 64, "source_content_id"),
        ("source_commitment", "0" * 64, "source_commitment"),
        ("source_events", 23, "source_events"),
        ("canary_events", 1, "canary_events"),
        ("source_bytes", 1, "source_bytes"),
        ("canary_bytes", 1, "canary_bytes"),
        ("event_compression_ratio", 99.0, "event_compression_ratio"),
        ("byte_compression_ratio", 99.0, "byte_compression_ratio"),
        ("timing_mode", "bounded_approximate", "timing_mode"),
        ("source_coverage_status", "partial_source", "source_coverage"),
        ("assumptions", {"arrival_skew_us": 0.0}, "assumptions"),
        ("fidelity_budget", {"max_gap_error_us": -1.0}, "fidelity_budget"),
        ("fidelity_budget", {"max_made_up_error_us": 1.0}, "fidelity_budget"),
    ],
)
def test_a_false_statement_is_named(small_trace: Trace, field: str, value: Any, check: str) -> None:
    canary = relabelled(compile_trace(small_trace, CompileSettings()), **{field: value})
    assert check in failed(small_trace, canary)
    assert verify_source(small_trace, canary).status == "failed"


def test_a_setting_that_would_have_made_another_canary_is_found() -> None:
    trace = synthetic("inference", 1, 100)
    canary = resized(relabelled(compile_trace(trace, CompileSettings()), timing_sample_limit=4))
    assert list(failed(trace, canary)) == ["compiler_settings"]


def test_a_grid_that_the_times_are_not_on_is_found_though_the_records_look_alike(small_trace: Trace) -> None:
    events = small_trace.events.take(np.zeros(1, np.int64))
    none = np.full(1, -1)
    offsets = events.offsets_ns
    same_times = replace(
        events,
        gap_ns=np.full(1, 1500),
        offsets_ns=Ragged(np.zeros_like(offsets.values), offsets.bounds, offsets.known),
        compute_before_ns=none,
        compute_overlap_ns=none,
        observed_exposed_ns=none,
        rank_compute_before_ns=Ragged(np.zeros(0, np.int64), np.zeros(2, np.int64), np.zeros(1, np.bool_)),
    )
    trace = Trace.of(msgspec.structs.replace(small_trace.header, lineage=None), same_times)
    canary = compile_trace(trace, CompileSettings())
    forged = resized(relabelled(canary, quantum_ns=1000))
    assert list(failed(trace, forged)) == ["compiler_settings"]


@pytest.mark.parametrize("events", [100, 1])
def test_the_same_events_written_as_another_program_are_found(small_trace: Trace, events: int) -> None:
    trace = small_trace.derived(np.zeros(events, np.int64), "x")
    canary = compile_trace(trace, CompileSettings())
    assert canary.header.program == ((0, events),)
    assert verify_source(trace, canary).status == "source_verified"
    others = [((0, 60, 0, 40),), ((-2, 50), (0, 2)), ((-2, 1), (0, 100)), ((0, 100), (0, 2))]
    for program in others if events == 100 else [((-2, 1), (0, 1)), ((0, 1), (0, 2))]:
        leaves = sum(len(rule) // 2 - sum(symbol < -1 for symbol in rule[::2]) for rule in program)
        header = msgspec.structs.replace(canary.header, program=program)
        stated = Canary(Stored(header, canary.stored.table))
        compression = {"canary_events": leaves, "event_compression_ratio": round(events / leaves, 3)}
        forged = resized(relabelled(stated, **compression))
        assert list(failed(trace, forged)) == ["program_form"]


def resized(canary: Canary) -> Canary:
    table = canary.stored.table
    assert table is not None
    return Canary(Stored(with_stated_size(canary.header, table), table))


@pytest.mark.parametrize(
    ("column", "row", "by", "check", "place"),
    [
        ("gap", 5, 1, "max_gap_error_us", "events[5]"),
        ("compute_before", 6, 1, "max_compute_before_error_us", "events[6]"),
        ("compute_overlap", 7, 1, "max_overlap_error_us", "events[7]"),
        ("compute_pressure", 8, 0.01, "max_pressure_error", "events[8]"),
        ("observed_exposed", 9, 1, "max_observed_exposed_error_us", "events[9]"),
        ("message_sequence", 7, 1, "links", "events[7].message_sequence"),
    ],
)
def test_a_changed_record_is_found_at_its_event(
    small_trace: Trace, column: str, row: int, by: float, check: str, place: str
) -> None:
    def change(values: list[Any]) -> list[Any]:
        return [v if i != row else (v or 0) + by for i, v in enumerate(values)]

    found = failed(small_trace, with_column(compile_trace(small_trace, CompileSettings()), column, change))
    assert found[check].place == place


def test_a_forgotten_value_is_not_an_error_of_zero(small_trace: Trace) -> None:
    canary = with_column(
        compile_trace(small_trace, CompileSettings()),
        "compute_overlap",
        lambda v: [None if i == 4 else x for i, x in enumerate(v)],
    )
    assert failed(small_trace, canary)["max_overlap_error_us"].place == "events[4]"


def test_swapped_operations_are_an_order_that_differs(small_trace: Trace) -> None:
    order = np.arange(len(small_trace))
    order[[8, 9]] = order[[9, 8]]
    other = compile_trace(Trace.of(small_trace.header, small_trace.events.take(order)), CompileSettings())
    found = failed(small_trace, other)
    assert found["order"].place == "events[8]"
    assert "all_gather" in str(found["order"].actual)


def test_the_segment_that_differs_is_named() -> None:
    trace = synthetic("mixed", 5, 9000)
    gap = trace.events.gap_ns.copy()
    gap[5000] += 1
    other = Trace.of(trace.header, replace(trace.events, gap_ns=gap))
    found = failed(trace, compile_trace(other, CompileSettings()))
    assert found["source_segments"].place == "events[4096..8191]"
    assert found["max_gap_error_us"].place == "events[5000]"


def test_a_declared_part_is_verified_as_a_part(small_trace: Trace) -> None:
    window = small_trace.derived(np.arange(4, 17), "window")
    canary = compile_trace(window, CompileSettings())
    assert verify_source(small_trace, canary).status == "partial_source_verified"
    assert verify_source(window, canary).status == "source_verified"
    assert source_exit_code(verify_source(small_trace, canary)) == 0


@pytest.mark.parametrize("start", [3, 40, 66])
def test_a_lossy_window_is_found_by_its_commitment(start: int) -> None:
    trace = synthetic("inference", 4, 200)
    window = trace.derived(np.arange(start, start + 50), "window")
    canary = compile_trace(window, CompileSettings(quantum_ns=20_000))
    found = verify_source(trace, canary)
    assert found.status == "partial_source_verified", [c for c in found.checks if c.status == "fail"]


def test_a_part_with_an_invented_event_fails(small_trace: Trace) -> None:
    window = compile_trace(small_trace.derived(np.arange(4, 17), "window"), CompileSettings())
    canary = with_column(window, "gap", lambda v: [x + (i == 3) for i, x in enumerate(v)])
    assert failed(small_trace, canary)["part"].place == "events[3]"


@pytest.mark.parametrize("method", ["isolated", "random", "frequency", "cluster"])
def test_controls_fail_even_where_they_reproduce_every_event(small_trace: Trace, method: str) -> None:
    control = make_control(small_trace, method, ControlSettings(cluster_count=24, sample_count=24))
    found = verify_source(small_trace, compile_trace(control, CompileSettings()))
    assert found.status == "failed"
    assert source_exit_code(found) == 1


@pytest.mark.parametrize(
    "program", [(), ((),), ((0, 1),), ((0, 2**40),), ((-2, 3), (-2, 1)), ((-2, 2**40), ()), ((-1, 400),)]
)
def test_a_program_that_does_not_fit_is_refused_not_followed(small_trace: Trace, program: Any) -> None:
    canary = compile_trace(small_trace, CompileSettings())
    broken = Canary(Stored(msgspec.structs.replace(canary.header, program=program), canary.stored.table))
    with pytest.raises(InputRefusal):
        walk(broken, 1000)
    assert failed(small_trace, broken)["program"].status == "fail"


@pytest.mark.parametrize("count", [2**40, 2**62])
def test_a_record_of_endless_events_costs_no_memory(small_trace: Trace, count: int) -> None:
    canary = with_column(compile_trace(small_trace, CompileSettings()), "count", lambda v: [count, *v[1:]])
    assert failed(small_trace, canary)["program"].place == "timing.count"


def test_an_endless_bound_is_only_a_bound(small_trace: Trace) -> None:
    window = compile_trace(small_trace.derived(np.arange(4, 17), "window"), CompileSettings())
    fidelity = msgspec.structs.replace(window.header.compiler.fidelity, max_gap_error_us=1e308)
    assert "max_gap_error_us" in failed(small_trace, relabelled(window, fidelity=fidelity))
