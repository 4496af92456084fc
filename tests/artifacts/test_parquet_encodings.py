"""The encoding of a column follows from its values, so that equal tables give equal files."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from tests.strategies import traces

from commcanary.artifacts.parquet_encodings import encodings
from commcanary.artifacts.parquetfile import write_parquet
from commcanary.artifacts.trace import Trace
from commcanary.artifacts.trace_table import to_stored
from commcanary.compile.compiler import CompileSettings, compile_trace
from commcanary.sources.synthetic.mixed import mixed

rng = np.random.default_rng(0)
MANY = rng.integers(0, 10**6, 5000)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array(["a", "b"]), "dictionary"),
        (pa.array([True, None]), "dictionary"),
        (pa.array(MANY % 16), "dictionary"),
        (pa.array(MANY % 17), "BYTE_STREAM_SPLIT"),
        (pa.array(np.sort(MANY)), "DELTA_BINARY_PACKED"),
        (pa.array(MANY), "BYTE_STREAM_SPLIT"),
        (pa.array([None, *np.sort(MANY).tolist()], pa.int64()), "DELTA_BINARY_PACKED"),
        (pa.array(MANY / 7), "BYTE_STREAM_SPLIT"),
        (pa.array(np.concatenate([np.zeros(5000, np.int64), MANY])), "BYTE_STREAM_SPLIT"),
        (pa.array([], pa.int64()), "dictionary"),
        (pa.array([None, None], pa.float64()), "dictionary"),
    ],
    ids=[
        "text",
        "flag",
        "16 values",
        "17 values",
        "rising",
        "any",
        "rising with null",
        "fractions",
        "late",
        "0",
        "null",
    ],
)
def test_rule(column: pa.Array, expected: str) -> None:
    chosen = encodings(pa.table({"x": column}))
    assert (["x"] if expected == "dictionary" else []) == chosen.dictionary
    assert chosen.other == ({} if expected == "dictionary" else {"x": expected})


def test_lists_are_chosen_by_their_elements() -> None:
    chosen = encodings(pa.table({"x": pa.array([[int(v)] for v in np.sort(MANY)])}))
    assert chosen.other == {"x.list.element": "BYTE_STREAM_SPLIT"}


def written(trace: Trace) -> bytes:
    stream = BytesIO()
    write_parquet(stream, to_stored(trace))
    return stream.getvalue()


@given(traces(max_events=6))
def test_equal_artifacts_are_equal_files(trace: Trace) -> None:
    assert written(trace) == written(trace)


def test_the_file_uses_what_was_chosen() -> None:
    stream = BytesIO()
    write_parquet(stream, compile_trace(mixed(1, 5000), CompileSettings()).stored)
    group = pq.ParquetFile(pa.BufferReader(stream.getvalue())).metadata.row_group(0)
    found = {group.column(i).path_in_schema: group.column(i) for i in range(group.num_columns)}
    for name in ("gap", "offsets.list.element", "compute_before", "compute_overlap", "signature"):
        assert "BYTE_STREAM_SPLIT" in found[name].encodings
        assert found[name].compression == "ZSTD"
    assert "RLE_DICTIONARY" in found["compute_pressure"].encodings
