"""Any valid trace survives both containers, with one content id."""

from __future__ import annotations

from io import BytesIO

import pyarrow as pa
from hypothesis import given
from tests.strategies import traces

from commcanary.artifacts.files import json_bytes
from commcanary.artifacts.parquetfile import read_parquet, write_parquet
from commcanary.artifacts.stored import Stored
from commcanary.artifacts.trace import Trace, TraceHeader
from commcanary.artifacts.trace_checks import check_trace
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.artifacts.trace_size import exchange_size
from commcanary.artifacts.trace_table import from_stored, to_stored


def through_json(stored: Stored[TraceHeader]) -> Stored[TraceHeader]:
    return TRACE.from_json(json_bytes(TRACE, stored))


def through_parquet(stored: Stored[TraceHeader]) -> Stored[TraceHeader]:
    stream = BytesIO()
    write_parquet(stream, stored)
    return read_parquet(pa.py_buffer(stream.getvalue()), TRACE)


@given(traces())
def test_the_generated_traces_are_valid(trace: Trace) -> None:
    check_trace(trace.events, trace.start_ns)


@given(traces())
def test_json_gives_the_trace_back(trace: Trace) -> None:
    stored = to_stored(trace)
    back = through_json(stored)
    assert back.table.equals(stored.table)
    assert back.header == stored.header
    assert back.content_id == stored.content_id


@given(traces())
def test_parquet_gives_the_trace_back(trace: Trace) -> None:
    stored = to_stored(trace)
    back = through_parquet(stored)
    assert back.table.equals(stored.table)
    assert back.header == stored.header
    assert back.content_id == stored.content_id


@given(traces())
def test_the_table_gives_the_columns_back(trace: Trace) -> None:
    stored = to_stored(trace)
    assert to_stored(from_stored(stored)).table.equals(stored.table)


@given(traces())
def test_exchange_size_is_the_length_of_the_text(trace: Trace) -> None:
    assert exchange_size(trace) == len(json_bytes(TRACE, to_stored(trace)))
