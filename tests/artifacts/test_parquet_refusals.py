"""A Parquet trace is held to the same rules as an exchange file, and to its schema."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commcanary.artifacts.events import ProcessGroup
from commcanary.artifacts.parquetfile import read_parquet, write_parquet
from commcanary.artifacts.stored import Stored
from commcanary.artifacts.trace import Trace, TraceHeader
from commcanary.artifacts.trace_exchange import TRACE, read_exchange
from commcanary.artifacts.trace_table import from_stored, to_stored
from commcanary.errors import EXIT_REFUSED, InputRefusal, IntegrityRefusal, Refusal

ROW = '{"op":"all_reduce","bytes":8,"ranks":2,"rank_arrival_us":[0,1],"compute_before_us":3,"gap_us":5}'


@pytest.fixture
def stored() -> Stored[TraceHeader]:
    return to_stored(read_exchange(f'{{"format":"commcanary.trace.v1","events":[{ROW},{ROW}]}}'.encode()))


def parquet(stored: Stored[TraceHeader]) -> bytes:
    stream = BytesIO()
    write_parquet(stream, stored)
    return stream.getvalue()


def read(data: bytes) -> Trace:
    return from_stored(read_parquet(pa.py_buffer(data), TRACE))


def with_column(stored: Stored[TraceHeader], name: str, values: pa.Array | None) -> Stored[TraceHeader]:
    table = stored.table
    assert table is not None
    if values is None:
        return Stored(stored.header, table.drop_columns([name]))
    if name not in table.column_names:
        return Stored(stored.header, table.append_column(name, values))
    return Stored(stored.header, table.set_column(table.column_names.index(name), name, values))


def refused(stored: Stored[TraceHeader]) -> Refusal:
    with pytest.raises(InputRefusal) as caught:
        read(parquet(stored))
    assert caught.value.exit_code == EXIT_REFUSED
    assert caught.value.remedy
    return caught.value


def test_the_file_itself_is_read(stored: Stored[TraceHeader]) -> None:
    assert len(read(parquet(stored))) == 2


LISTS = pa.list_(pa.int64())

# name: (column, values or None, place, finding)
COLUMNS: dict[str, tuple[str, Any, str, str]] = {
    "missing": ("gap_ns", None, "column gap_ns", "is missing; a trace has it as int64"),
    "other type": ("gap_ns", pa.array([0.0, 1.0]), "column gap_ns", "is double where int64 is needed"),
    "narrower type": ("gap_ns", pa.array([0, 1], pa.int32()), "column gap_ns", "is int32 where int64 is needed"),
    "added": ("gpu", pa.array([1, 2]), "column gpu", "is not one that a trace has"),
    "null op": ("op", pa.array(["all_reduce", None]), "row 1 column op", "is null"),
    "null gap": ("gap_ns", pa.array([None, 0], pa.int64()), "row 0 column gap_ns", "is null"),
    "null flag": ("custom_op", pa.array([None, False]), "row 0 column custom_op", "is null"),
    "negative bytes": ("bytes", pa.array([8, -8]), "events[1].bytes", "is -8"),
    "unknown op": ("op", pa.array(["x", "all_reduce"]), "events[0].op", "is 'x'"),
    "group outside": ("group", pa.array([0, 1]), "row 1 column group", "1 is not one of the header's 1 groups"),
    "negative group": ("group", pa.array([-1, 0]), "row 0 column group", "-1 is not one"),
    "negative gap": ("gap_ns", pa.array([0, -3]), "row 1 column gap_ns", "is -3"),
    "unknown as -1": ("compute_before_ns", pa.array([3, -1]), "row 1 column compute_before_ns", "is -1"),
    "overlap as -1": ("compute_overlap_ns", pa.array([-1, 0]), "row 0 column compute_overlap_ns", "is -1"),
    "gap too long": ("gap_ns", pa.array([0, 2**62]), "events[1].gap_us", "is 46116860184273"),
    "null in a list": ("offsets_ns", pa.array([[0, 1], [0, None]], LISTS), "row 1 column offsets_ns", "holds null"),
    "short list": ("offsets_ns", pa.array([[0, 1], [0]], LISTS), "events[1].rank_arrival_us", "is 1"),
    "negative offset": ("offsets_ns", pa.array([[0, 1], [0, -9]], LISTS), "events[1].rank_arrival_us", "holds -0.009"),
    "no first arrival": ("offsets_ns", pa.array([[1, 2], None], LISTS), "events[0].rank_arrival_us", "no rank at"),
    "pressure null": ("compute_pressure", pa.array([None, 0.5]), "row 0 column compute_pressure", "is null"),
    "pressure infinite": ("compute_pressure", pa.array([0.5, np.inf]), "events[1].compute_pressure", "is inf"),
    "consumer earlier": ("consumed_by", pa.array([1, 0]), "events[1].consumed_by", "is 0"),
    "consumer outside": ("consumed_by", pa.array([2, None]), "events[0].consumed_by", "is 2"),
    "starts that differ": ("start_ns", pa.array([0, 4]), "events[1].gap_us", "is 5.0"),
    "starts backwards": ("start_ns", pa.array([9, 4]), "events[1].start_us", "is 0.004"),
    "metadata no object": ("metadata", pa.array([None, "[1]"]), "top level", "Expected `object`"),
    "metadata not canonical": ("metadata", pa.array([None, '{"a": 1}']), "row 1 column metadata", "not a canonical"),
    "made-up id": ("id", pa.array([None, "#1"]), "groups or column id", "no made-up ids"),
    "observed on some": ("observed_exposed_ns", pa.array([1, None]), "events[1].observed_exposed_us", "is missing"),
}


@pytest.mark.parametrize(("name", "values", "place", "found"), COLUMNS.values(), ids=COLUMNS.keys())
def test_columns(stored: Stored[TraceHeader], name: str, values: Any, place: str, found: str) -> None:
    refusal = refused(with_column(stored, name, values))
    assert refusal.place == place
    assert found in refusal.found


def test_ids_that_a_consumer_cannot_tell_apart(stored: Stored[TraceHeader]) -> None:
    twice = with_column(with_column(stored, "id", pa.array(["a", "a"])), "consumed_by", pa.array([1, None]))
    assert refused(twice).place == "events[1].id"


@pytest.mark.parametrize(
    "groups",
    [
        (ProcessGroup("default", (0, 1)),),
        (ProcessGroup("default", 2), ProcessGroup("default", 2)),
        (ProcessGroup("default", 2), ProcessGroup("spare", 2)),
    ],
    ids=["long form of ranks", "twice", "unused"],
)
def test_groups_have_one_form(stored: Stored[TraceHeader], groups: tuple[ProcessGroup, ...]) -> None:
    refusal = refused(Stored(TraceHeader(groups=groups), stored.table))
    assert refusal.place == "groups or column id"


def test_no_rows(stored: Stored[TraceHeader]) -> None:
    assert stored.table is not None
    assert refused(Stored(stored.header, stored.table.slice(0, 0))).found == "the trace is empty"


def test_nan_cannot_even_be_hashed(stored: Stored[TraceHeader]) -> None:
    with pytest.raises(InputRefusal, match="column compute_pressure: holds NaN"):
        parquet(with_column(stored, "compute_pressure", pa.array([0.5, np.nan])))


def test_a_changed_value_is_noticed(stored: Stored[TraceHeader]) -> None:
    table = pq.read_table(pa.BufferReader(parquet(stored)))
    metadata = pq.ParquetFile(pa.BufferReader(parquet(stored))).metadata.metadata
    changed = table.set_column(table.column_names.index("gap_ns"), "gap_ns", pa.array([0, 6])).replace_schema_metadata(
        {key: value for key, value in metadata.items() if key.startswith(b"commcanary")}
    )
    stream = BytesIO()
    pq.write_table(changed, stream)
    with pytest.raises(IntegrityRefusal, match="the file was changed after it was written") as caught:
        read(stream.getvalue())
    assert caught.value.exit_code == EXIT_REFUSED


def test_what_is_no_artifact() -> None:
    stream = BytesIO()
    pq.write_table(pa.table({"x": [1]}), stream)
    with pytest.raises(InputRefusal, match=r"key-value metadata: holds no commcanary\.header"):
        read(stream.getvalue())


def test_torn_files(stored: Stored[TraceHeader]) -> None:
    whole = parquet(stored)
    for size in (3, len(whole) // 2, len(whole) - 1):
        with pytest.raises(InputRefusal, match="not a readable Parquet file") as caught:
            read(whole[:size])
        assert "\n" not in str(caught.value)
