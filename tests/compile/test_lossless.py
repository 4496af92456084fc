"""Whatever the trace: the default canary replays exactly its events, in both containers, at the size it states."""

from __future__ import annotations

from dataclasses import fields
from io import BytesIO

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import events, traces

from commcanary.artifacts.canary import Canary, CanaryHeader
from commcanary.artifacts.canary_exchange import CANARY
from commcanary.artifacts.commitment import commit
from commcanary.artifacts.events import Events, Ragged
from commcanary.artifacts.files import json_bytes
from commcanary.artifacts.parquetfile import read_parquet, write_parquet
from commcanary.artifacts.stored import Stored
from commcanary.artifacts.trace import Trace, TraceHeader
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.artifacts.trace_table import to_stored
from commcanary.compile.compiler import CompileSettings, compile_trace
from commcanary.errors import UsageError
from commcanary.sources.synthetic.inference import inference
from commcanary.sources.synthetic.mixed import mixed

SETTINGS = [CompileSettings(), CompileSettings(quantum_ns=1000), CompileSettings(timing_sample_limit=2)]


def assert_same_events(one: Events, other: Events) -> None:
    for field in fields(Events):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, Ragged):
            assert [a.row(i) for i in range(len(a))] == [b.row(i) for i in range(len(b))], field.name
        elif isinstance(a, np.ndarray):
            assert a.tolist() == b.tolist(), field.name
        else:
            assert a == b, field.name


def through_parquet(stored: Stored[CanaryHeader]) -> Stored[CanaryHeader]:
    stream = BytesIO()
    write_parquet(stream, stored)
    return read_parquet(pa.py_buffer(stream.getvalue()), CANARY)


@st.composite
def repeating_traces(draw: st.DrawFn) -> Trace:
    """Traces whose windows come again, some of them side by side."""
    whole = draw(events(max_events=5))
    index = np.concatenate(
        [
            np.tile(np.asarray(draw(st.lists(st.integers(0, len(whole) - 1), min_size=1, max_size=4))), repeat)
            for repeat in draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
        ]
    )
    return Trace.of(TraceHeader(workload={"name": "repeats"}), whole.take(index))


@given(traces() | repeating_traces())
def test_expansion_is_the_trace(trace: Trace) -> None:
    canary = compile_trace(trace, CompileSettings())
    assert_same_events(canary.events, trace.events)
    compiler = canary.header.compiler
    assert compiler.timing_mode == compiler.fidelity.mode == "lossless_timing"
    assert not any(v for v in (getattr(compiler.fidelity, n) for n in compiler.fidelity.__struct_fields__[1:]))


@given(traces() | repeating_traces(), st.sampled_from(SETTINGS))
def test_both_containers_hold_the_same_canary(trace: Trace, settings: CompileSettings) -> None:
    canary = compile_trace(trace, settings)
    text = json_bytes(CANARY, canary.stored)
    for back in (CANARY.from_json(text), through_parquet(canary.stored)):
        assert back.table.equals(canary.stored.table)
        assert back.header == canary.header
        assert back.content_id == canary.content_id
        assert_same_events(Canary(back).events, canary.events)


@given(traces() | repeating_traces(), st.sampled_from(SETTINGS))
def test_stated_sizes_are_those_of_the_files(trace: Trace, settings: CompileSettings) -> None:
    canary = compile_trace(trace, settings)
    compiler = canary.header.compiler
    assert compiler.canary_bytes == len(json_bytes(CANARY, canary.stored))
    assert compiler.source_bytes == len(json_bytes(TRACE, to_stored(trace)))
    ratio = compiler.source_bytes / compiler.canary_bytes
    assert compiler.byte_compression_ratio == pytest.approx(ratio, abs=0.5)
    assert compiler.source_events == len(trace)


@given(traces(max_events=6))
def test_the_canary_is_bound_to_its_source(trace: Trace) -> None:
    compiler = compile_trace(trace, CompileSettings()).header.compiler
    assert compiler.source_content_id == trace.content_id
    assert compiler.source_commitment == commit(to_stored(trace)).root
    derived = trace.header.lineage is not None
    assert compiler.source_coverage_status == ("partial_source" if derived else "full_source")


@pytest.mark.parametrize("trace", [mixed(3, 700), inference(3, 300)], ids=["mixed", "inference"])
@pytest.mark.parametrize("settings", SETTINGS, ids=["lossless", "snapped", "segments"])
def test_equal_inputs_give_equal_bytes(trace: Trace, settings: CompileSettings) -> None:
    one, other = (compile_trace(trace, settings).stored for _ in range(2))
    assert json_bytes(CANARY, one) == json_bytes(CANARY, other)
    assert_same_events(Canary(one).events, Canary(CANARY.from_json(json_bytes(CANARY, other))).events)


def test_no_string_of_the_profile_but_names() -> None:
    trace = mixed(1, 20)
    header = TraceHeader(
        workload={"name": "w", "notes": "secret-a"}, system={"host": "secret-b"}, notes={"user": "secret-c"}
    )
    rows = Trace.of(header, trace.events, ids=("secret-d",) * 20, metadata=('{"kernel":"secret-e"}',) * 20)
    assert b"secret" not in json_bytes(CANARY, compile_trace(rows, CompileSettings()).stored)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"timing_sample_limit": 0}, "--timing-sample-limit is 0"),
        ({"quantum_ns": 0}, "--quantum-us is below one nanosecond"),
        ({"quantum_ns": 5, "timing_sample_limit": 5}, "exclude each other"),
    ],
)
def test_impossible_settings(settings: dict[str, int], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        CompileSettings(**settings)  # type: ignore[arg-type]
