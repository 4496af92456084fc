"""The content id against its definition in plain Python."""

from __future__ import annotations

import hashlib
import json
import struct
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import traces

from commcanary.artifacts.content import content_id, table_digest
from commcanary.artifacts.stored import Lineage, SourceFile, Stored
from commcanary.artifacts.trace import Trace, TraceHeader
from commcanary.artifacts.trace_columns import TRACE_SCHEMA
from commcanary.artifacts.trace_table import to_stored
from commcanary.errors import InputRefusal


def oracle_bytes(kind: str, rows: list[Any]) -> bytes:
    """The bytes of a column, from the text at the head of content.py."""
    data = struct.pack("<Q", len(rows)) + bytes(row is not None for row in rows)
    if kind == "int64":
        return data + b"".join(struct.pack("<q", row or 0) for row in rows)
    if kind == "float64":
        return data + b"".join(struct.pack("<d", row or 0.0) for row in rows)
    if kind == "bool":
        return data + bytes(bool(row) for row in rows)
    if kind == "string":
        texts = [(row or "").encode() for row in rows]
        return data + b"".join(struct.pack("<q", len(text)) for text in texts) + b"".join(texts)
    inner = kind.removeprefix("list<").removesuffix(">")
    lengths = b"".join(struct.pack("<q", len(row or [])) for row in rows)
    return data + lengths + oracle_bytes(inner, [element for row in rows for element in row or []])


def oracle_digest(columns: dict[str, tuple[str, list[Any]]]) -> str:
    digest = hashlib.sha256()
    for name in sorted(columns):
        kind, rows = columns[name]
        digest.update(json.dumps([name, kind], separators=(",", ":")).encode() + b"\n" + oracle_bytes(kind, rows))
    return digest.hexdigest()


KINDS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "int64": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "float64": (pa.float64(), st.floats(allow_nan=False) | st.just(-0.0)),
    "bool": (pa.bool_(), st.booleans()),
    "string": (pa.string(), st.text(max_size=5)),
    "list<int64>": (pa.list_(pa.int64()), st.lists(st.integers(-5, 2**62), max_size=3)),
    "list<string>": (pa.list_(pa.string()), st.lists(st.none() | st.text(max_size=3), max_size=3)),
}


@st.composite
def columns(draw: st.DrawFn) -> dict[str, tuple[str, list[Any]]]:
    count = draw(st.integers(0, 6))
    found = {}
    for name in draw(st.lists(st.sampled_from(["a", "b", "é", "Z"]), min_size=1, max_size=4, unique=True)):
        kind = draw(st.sampled_from(sorted(KINDS)))
        found[name] = (kind, draw(st.lists(st.none() | KINDS[kind][1], min_size=count, max_size=count)))
    return found


@given(columns())
def test_digest_of_any_table(columns: dict[str, tuple[str, list[Any]]]) -> None:
    table = pa.table({name: pa.array(rows, KINDS[kind][0]) for name, (kind, rows) in columns.items()})
    assert table_digest(table) == oracle_digest(columns)


@given(columns(), st.integers(0, 6), st.integers(0, 6))
def test_slices_and_chunks_count_as_what_they_hold(
    columns: dict[str, tuple[str, list[Any]]], start: int, length: int
) -> None:
    table = pa.table({name: pa.array(rows, KINDS[kind][0]) for name, (kind, rows) in columns.items()})
    cut = {name: (kind, rows[start : start + length]) for name, (kind, rows) in columns.items()}
    assert table_digest(table.slice(start, length)) == oracle_digest(cut)
    assert table_digest(pa.concat_tables([table.slice(0, start), table.slice(start)])) == oracle_digest(columns)


@pytest.mark.parametrize(
    ("column", "kind", "rows"),
    [
        (pa.array([1, None, 3], pa.int8()), "int64", [1, None, 3]),
        (pa.array([1, None], pa.uint32()), "int64", [1, None]),
        (pa.array([0.5, None], pa.float32()), "float64", [0.5, None]),
        (pa.array(["é", None, "é"]).dictionary_encode(), "string", ["é", None, "é"]),
        (pa.array(["ab", ""], pa.large_string()), "string", ["ab", ""]),
        (pa.array([[1], None], pa.large_list(pa.int32())), "list<int64>", [[1], None]),
        (pa.array([-0.0]), "float64", [0.0]),
    ],
    ids=["int8", "uint32", "float32", "dictionary", "large_string", "large_list", "minus_zero"],
)
def test_storage_does_not_matter(column: pa.Array, kind: str, rows: list[Any]) -> None:
    assert table_digest(pa.table({"x": column})) == oracle_digest({"x": (kind, rows)})


def test_values_under_a_null_do_not_matter() -> None:
    hidden = pa.array([1, 7], mask=pa.array([False, True]).to_numpy(zero_copy_only=False))
    assert table_digest(pa.table({"x": hidden})) == oracle_digest({"x": ("int64", [1, None])})
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), pa.array([5, 6]), mask=pa.array([False, True]))
    assert table_digest(pa.table({"x": lists})) == oracle_digest({"x": ("list<int64>", [[5], None])})


def test_nan_is_refused() -> None:
    with pytest.raises(InputRefusal, match="column x: holds NaN"):
        table_digest(pa.table({"x": [0.5, float("nan")]}))


def oracle_content_id(header: dict[str, Any], digest: str) -> str:
    inside = {key: value for key, value in header.items() if key not in ("notes", "source_files")}
    text = json.dumps(inside, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(b"commcanary.content.v1\n" + text.encode() + b"\n" + digest.encode()).hexdigest()


def test_header_by_hand() -> None:
    header = TraceHeader(
        workload={"name": "décode"},
        lineage=Lineage("ab", "first-events", 9),
        notes={"any": 1},
        source_files=(SourceFile("x.json", 3, "00"),),
    )
    plain = {
        "format": "commcanary.trace.v1",
        "workload": {"name": "décode"},
        "lineage": {"derived_from": "ab", "method": "first-events", "source_events": 9},
    }
    assert content_id(header, "d1") == oracle_content_id(plain, "d1")


@given(traces(max_events=5))
def test_content_id_of_any_trace(trace: Trace) -> None:
    stored = to_stored(trace)
    assert stored.table is not None
    names = {pa.int64(): "int64", pa.float64(): "float64", pa.bool_(): "bool", pa.string(): "string"}
    rows = {
        field.name: (names.get(field.type, "list<int64>"), stored.table.column(field.name).to_pylist())
        for field in TRACE_SCHEMA
    }
    assert stored.table_digest == oracle_digest(rows)
    bare = Stored(TraceHeader(groups=trace.header.groups), stored.table)
    groups = [
        {"name": g.name, "ranks": g.ranks if isinstance(g.ranks, int) else list(g.ranks)} for g in trace.header.groups
    ]
    assert bare.content_id == oracle_content_id(
        {"format": "commcanary.trace.v1", "groups": groups}, oracle_digest(rows)
    )
