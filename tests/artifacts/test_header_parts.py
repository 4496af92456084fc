"""Parts of a document are refused by what they hold, before any of it is decoded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq
import pytest

from commcanary.artifacts import trace_rows, trace_table
from commcanary.artifacts.canary_exchange import CANARY
from commcanary.artifacts.files import read_artifact, write_artifact
from commcanary.artifacts.header_parts import PartLimit, check_part, field_texts
from commcanary.artifacts.stored import Kind, Stored
from commcanary.artifacts.trace_columns import StoredTrace
from commcanary.artifacts.trace_exchange import TRACE, read_exchange
from commcanary.artifacts.trace_table import from_stored
from commcanary.errors import InputRefusal
from commcanary.replay.report import REPORT

ROW = '{"op":"all_reduce","bytes":8,"ranks":2}'


def listed(element: str, count: int) -> str:
    return f"[{','.join([element] * count)}]"


CASES: list[tuple[Kind[Any], str, str, str]] = [
    # kind, field, its text, what is said of it
    (TRACE, "coverage", listed("{}", 2**17 + 1), "coverage: holds 131,073 rows, more than the 131,072"),
    (TRACE, "source_files", listed("{}", 2**17 + 1), "source_files: holds 131,073 files, more than the 131,072"),
    (TRACE, "unknown", listed("0", 2**18 + 1), "unknown: holds 262,145 values, more than the 262,144"),
    (TRACE, "assumptions", listed("0", 2**18 + 1), "assumptions: holds 262,145 values, more than the 262,144"),
    (CANARY, "workload", listed("0", 2**18 + 1), "workload: holds 262,145 values, more than the 262,144"),
    (CANARY, "signatures", listed("{}", 2**17 + 1), "signatures: holds 131,073 signatures, more than the 131,072"),
    (CANARY, "groups", listed("{}", 2**15 + 1), "groups: holds 32,769 process groups, more than the 32,768"),
    (CANARY, "groups", listed("0", 2**20 + 2**16 + 1), "groups: holds 1,114,113 values, more than the 1,114,112"),
    (CANARY, "program", listed("0", 3 * 2**20 + 1), "program: holds 3,145,729 values, more than the 3,145,728"),
    (CANARY, "compiler", listed("0", 2**19 + 1), "compiler: holds 524,289 values, more than the 524,288"),
    (REPORT, "replay_protocol", listed("0", 2**18 + 1), "replay_protocol: holds 262,145 values, more than"),
    (REPORT, "by_op", listed("{}", 2**17 + 1), "by_op: holds 131,073 rows, more than the 131,072"),
]


@pytest.mark.parametrize(("kind", "name", "text", "said"), CASES)
def test_the_line_names_part_number_and_limit(tmp_path: Path, kind: Kind[Any], name: str, text: str, said: str) -> None:
    file = tmp_path / "a.json"
    events = f'"events":[{ROW}],' if kind is TRACE else ""
    file.write_text(f'{{"format":"{kind.format}",{events}"{name}":{text}}}')
    with pytest.raises(InputRefusal) as refused:
        read_artifact(file, kind)
    assert str(refused.value).startswith(f"{file}: {said}")
    assert str(refused.value).endswith("; no job of this size is known: check what wrote the file")


def test_a_parquet_header_is_measured_too(tmp_path: Path) -> None:
    written, changed = tmp_path / "t.parquet", tmp_path / "c.parquet"
    write_artifact(written, TRACE, StoredTrace(read_exchange(f'{{"format":"x","events":[{ROW}]}}'.encode())))
    table = pq.read_table(written)
    header = {"format": TRACE.format, "groups": [{"name": "g", "ranks": 1}] * (2**15 + 1)}
    with pq.ParquetWriter(changed, table.schema, store_schema=False) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"commcanary.header": json.dumps(header)})
    with pytest.raises(InputRefusal, match="groups: holds 32,769 process groups"):
        read_artifact(changed, TRACE)


def test_as_much_as_the_limit_is_accepted() -> None:
    check_part(msgspec.Raw(b"[1,2,3]"), "x", PartLimit(3))
    with pytest.raises(InputRefusal, match="x: holds 3 values, more than the 2 that are read"):
        check_part(msgspec.Raw(b"[1,2,3]"), "x", PartLimit(2))


def test_fields_are_not_copied_and_absent_ones_are_not_there() -> None:
    class Two(msgspec.Struct, tag="t", tag_field="format"):
        first: int = 0
        second: int = 0

    texts = field_texts(b'{"format":"t","second":[1, 2],"other":3}', Two, ("beside",))
    assert {name: bytes(text) for name, text in texts.items()} == {"format": b'"t"', "second": b"[1, 2]"}


def rows(*fields: str) -> bytes:
    texts = (f'{{"op":"send","bytes":1,{field}}}' for field in fields)
    return f'{{"format":"x","events":[{",".join(texts)}]}}'.encode()


ROWS: list[tuple[str, list[str], str]] = [
    # the limit that is made 3, fields of each row, what is said of the last
    ("MAX_SIGNATURES", [f'"ranks":2,"phase":"{n}"' for n in (1, 2, 1, 3, 4)], "events[4]: {} operations"),
    ("MAX_GROUPS", [f'"ranks":2,"group":"{n}"' for n in (1, 2, 2, 3, 1, 4)], "events[5].group: {} process groups"),
    (
        "MAX_LISTED_RANKS",
        ['"ranks":[0,1]', '"ranks":[0,1]', '"ranks":[1,2]'],
        "events[2].ranks: {} places in lists of ranks",
    ),
]


@pytest.mark.parametrize(("limit", "fields", "said"), ROWS)
def test_the_row_that_exceeds_a_limit_is_named(
    monkeypatch: pytest.MonkeyPatch, limit: str, fields: list[str], said: str
) -> None:
    monkeypatch.setattr(trace_rows, limit, 3)
    assert len(read_exchange(rows(*fields[:-1]))) == len(fields) - 1
    with pytest.raises(InputRefusal) as refused:
        read_exchange(rows(*fields))
    assert str(refused.value).startswith(said.format("brings the trace to more than 3 different"))


def test_the_row_of_a_table_that_exceeds_a_limit_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    read = StoredTrace(read_exchange(rows(*(f'"ranks":2,"phase":"{n}"' for n in (1, 2, 1, 3, 4)))))
    stored = Stored.decoded(read.header, read.table)
    monkeypatch.setattr(trace_table, "MAX_SIGNATURES", 3)
    with pytest.raises(InputRefusal, match=r"^row 4: brings the trace to more than 3 different operations"):
        from_stored(stored)


def test_unknown_keys_have_a_limit() -> None:
    keys = ",".join(f'"k{n}":0' for n in range(2**16 + 1))
    with pytest.raises(InputRefusal, match=r"^top level: brings the trace to more than 65,536 different keys"):
        read_exchange(f'{{"format":"x","events":[{ROW}],{keys}}}'.encode())
    with pytest.raises(InputRefusal, match=r"^events\[0\]: brings the trace to more than 65,536 different keys"):
        read_exchange(f'{{"format":"x","events":[{ROW[:-1]},{keys}}}]}}'.encode())
    # many keys inside one that is not known are no keys of the document
    read = read_exchange(f'{{"format":"x","events":[{ROW}],"other":{{{keys}}}}}'.encode())
    assert read.header.notes == {"ignored_fields": {"other": 1}}
