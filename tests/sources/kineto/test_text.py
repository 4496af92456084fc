"""Slices of the event array against whole-file decoding, and what malformed text is told."""

from __future__ import annotations

import gzip
import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commcanary.errors import InputRefusal
from commcanary.sources.kineto.importer import import_kineto
from commcanary.sources.kineto.text import ProfileText

from .profiles import info, profile, record, written

if TYPE_CHECKING:
    from pathlib import Path

names = st.text(st.sampled_from('ab"\\{}[],: \n\u00e9'), max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)
events = st.lists(
    st.fixed_dictionaries(
        {"ph": st.sampled_from(["X", "M", "i"]), "name": names, "ts": st.integers(0, 10**13) | st.floats(0, 1e12)},
        optional={"args": st.dictionaries(names, values, max_size=3), "other": values},
    ),
    max_size=12,
)


def names_and_times(text: bytes, slice_bytes: int) -> tuple[list[tuple[str, Any]], Any]:
    reader = ProfileText(io.BytesIO(text), slice_bytes)
    seen = [(event.name, event.ts) for part in reader.slices() for event in part]
    return seen, reader.head.distributedInfo


@given(events, st.integers(1, 400), st.sampled_from([None, 0, 2]), st.booleans(), st.booleans())
def test_slices_give_the_events_of_the_whole(
    found: list[dict[str, Any]], slice_bytes: int, indent: int | None, late: bool, bare: bool
) -> None:
    job = {"distributedInfo": {"rank": 3, 'text"traceEvents": [': "]}"}}
    document: Any = {"traceEvents": found, **job} if late else {**job, "traceEvents": found, "traceName": "x"}
    text = json.dumps(found if bare else document, indent=indent).encode()
    seen, head = names_and_times(text, slice_bytes)
    assert seen == [(event["name"], event["ts"]) for event in found]
    assert head == (None if bare else job["distributedInfo"])


MALFORMED = [
    ('{"traceEvents": [\n  {"ph": "X", "name": "a"b"}\n]}', "line 2 column 26: not valid JSON"),
    ('{"traceEvents": [\n  {"ph": "X", "Call stack": "C:\\Users\\x"}\n]}', "line 2 column 33: .*escape"),
    ('{"traceEvents": [{"ph": "X", "ts": NaN}]}', "line 1 column 36: not valid JSON"),
    ('{"traceEvents": [{"ph": "X", "dur": Infinity}]}', "line 1 column 37: not valid JSON"),
    ('{"traceEvents": [{"ph": "X"},, {"ph": "X"}]}', "line 1 column 30: not valid JSON"),
    ('{"traceEvents": [{"ph": "X"}', "ends too early"),
    ('{"traceEvents": [', "ends too early"),
    ('{"traceEvents": [{"ph": "X"}]} {"a": 1}', "line 1 column 3[23]: not valid JSON"),
    ('{"traceEvents": [{"ph": "X", "name": "a\x01"}]}', "line 1 column 40: not valid JSON"),
    ('{"traceEvents": [{"ph": "X", "name": 7}]}', r"traceEvents\[0\]\.name: Expected `str`, got `int`"),
    ('{"traceEvents": [{"ph": "X", "ts": "12"}]}', r"traceEvents\[0\]\.ts: Expected"),
    ('{"traceEvents": [{"ph": "X"}, 5]}', r"traceEvents\[1\]: Expected `object`, got `int`"),
    ('{"traceEvents": {"ph": "X"}}', "traceEvents: is missing|Expected"),
    ('{"distributedInfo": {}}', "traceEvents: is missing"),
    ('{"schema": "1.1.1-chakra.0.0.4", "nodes": [{"id": 1}]}', "this is an execution trace"),
    ('{\ttid": 0}', "line 1 column"),
    ("[1, 2", "ends too early|Expected"),
]


@pytest.mark.parametrize(("text", "message"), MALFORMED)
def test_malformed_text_is_placed(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "p.json"
    path.write_text(text)
    with pytest.raises(InputRefusal, match=message) as refused:
        import_kineto([path])
    assert str(path) in str(refused.value)


@pytest.mark.parametrize("key", ["name", "ignored"])
def test_bytes_that_are_not_utf8(tmp_path: Path, key: str) -> None:
    path = tmp_path / "p.json"
    path.write_bytes(b'{"traceEvents": [\n{"ph": "X", "%b": "a\xff"}]}' % key.encode())
    with pytest.raises(InputRefusal, match=r"line 2 column \d+: byte 0xff is not UTF-8"):
        import_kineto([path])


def test_place_beyond_the_first_slice() -> None:
    lines = ["[", *['  {"ph": "M", "name": "m"},'] * 50, '  {"ph": "M", "name": "m"n"}', "]"]
    with pytest.raises(InputRefusal, match="line 52 column 26: not valid JSON"):
        names_and_times("\n".join(lines).encode(), 200)
    typed = ["[", *['  {"ph": "M", "name": "m"},'] * 50, '  {"ph": "M", "name": 5}', "]"]
    with pytest.raises(InputRefusal, match=r"traceEvents\[50\]\.name"):
        names_and_times("\n".join(typed).encode(), 200)


def test_the_last_of_two_equal_keys_wins(tmp_path: Path) -> None:
    event = json.dumps(record())[:-1]
    text = '{"distributedInfo": {"rank": 9}, "traceEvents": [%s, "ts": 7}], "distributedInfo": %s}'
    path = written(tmp_path / "p.json", text % (event, json.dumps(info())))
    trace = import_kineto([path]).trace
    assert len(trace) == 1
    assert trace.header.system["profiled_ranks"] == [0]


def test_distributed_info_at_the_end_with_ranks_as_text(tmp_path: Path) -> None:
    job = {"backend": "nccl", "rank": 1, "world_size": 3, "nccl_version": "unknown"}
    job["pg_config"] = [{"pg_name": "0", "pg_desc": "default_pg", "pg_size": 3, "ranks": "[0, 1, 2]"}]
    document = {"traceEvents": [record(ranks="[]", size=3)], "distributedInfo": job}
    trace = import_kineto([written(tmp_path / "p.json", document)]).trace
    assert [g.members for g in trace.events.groups] == [(0, 1, 2)]


def test_display_unit_changes_no_time(tmp_path: Path) -> None:
    calls = [record(ts=100.5), record(ts=101.75)]
    gaps = {
        unit: import_kineto(
            [written(tmp_path / f"{unit}.json", profile(calls, displayTimeUnit=unit))]
        ).trace.events.gap_ns.tolist()
        for unit in ("ns", "ms")
    }
    assert gaps == {"ns": [0, 1250], "ms": [0, 1250]}


@pytest.mark.parametrize("suffix", ["json", "json.gz", "bin"])
def test_gzip_or_plain(tmp_path: Path, suffix: str) -> None:
    paths = []
    for rank in (0, 1):
        text = json.dumps(profile([record(ts=100 + rank)], distributedInfo=info(rank))).encode()
        paths.append(tmp_path / f"rank{rank}.{suffix}")
        paths[-1].write_bytes(text if suffix == "json" else gzip.compress(text))
    trace = import_kineto(paths).trace
    assert trace.header.system["profiled_ranks"] == [0, 1]
    assert len(trace.header.source_files) == len(paths)
