"""Every value that no trace may have: the place, the value, the remedy, exit 3, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commcanary.artifacts.files import read_artifact
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.artifacts.trace_table import to_stored
from commcanary.errors import EXIT_REFUSED, InputRefusal
from commcanary.sources.synthetic.registry import synthetic

EVENT = {"op": "all_reduce", "bytes": 1024, "ranks": 2}


def event(**fields: Any) -> list[dict[str, Any]]:
    return [EVENT, {**EVENT, **fields}]


def two(first: dict[str, Any], second: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**EVENT, **first}, {**EVENT, **second}]


def without(name: str) -> list[dict[str, Any]]:
    return [EVENT, {key: value for key, value in EVENT.items() if key != name}]


P2P = {"op": "point_to_point", "sender_rank": 0, "receiver_rank": 1}

# name: (events, place, what is found there, remedy)
ROWS: dict[str, tuple[Any, str, str, str]] = {
    "empty trace": ([], "events", "the trace is empty", "one event or more"),
    "events is no list": ({}, "events", "Expected `array`, got `object`", "correct"),
    "event is no object": ([EVENT, 3], "events[1]", "Expected `object`, got `int`", "correct"),
    "op missing": (without("op"), "events[1]", "missing required field `op`", "correct"),
    "bytes missing": (without("bytes"), "events[1]", "missing required field `bytes`", "correct"),
    "ranks missing": (without("ranks"), "events[1]", "missing required field `ranks`", "correct"),
    "unknown op": (event(op="gossip"), "events[1].op", "is 'gossip'", "custom_op: true"),
    "zero bytes": (event(bytes=0), "events[1].bytes", "is 0", "above 0"),
    "negative bytes": (event(bytes=-8), "events[1].bytes", "is -8", "above 0"),
    "bytes beyond int64": (event(bytes=2**63), "events[1].bytes", f"is {2**63}", "below 2^63"),
    "huge bytes": (event(bytes=10**40), "events[1].bytes", "", ""),
    "bytes as bool": (event(bytes=True), "events[1].bytes", "got `bool`", "correct"),
    "bytes as text": (event(bytes="8"), "events[1].bytes", "got `str`", "correct"),
    "bytes as fraction": (event(bytes=8.5), "events[1].bytes", "got `float`", "correct"),
    "no rank": (event(ranks=0), "events[1].ranks", "is 0", "a count of 1"),
    "negative count of ranks": (event(ranks=-2), "events[1].ranks", "is -2", "a count of 1"),
    "too many ranks": (event(ranks=10**15), "events[1].ranks", f"is {10**15}", "a count of 1"),
    "empty ranks": (event(ranks=[]), "events[1].ranks", "is an empty list", "name the ranks"),
    "negative rank": (event(ranks=[0, -1]), "events[1].ranks", "holds rank -1", "ranks are 0"),
    "rank beyond int64": (event(ranks=[0, 2**63]), "events[1].ranks", f"holds rank {2**63}", "ranks are 0"),
    "duplicate ranks": (event(ranks=[3, 1, 3]), "events[1].ranks", "names rank 3 twice", "once"),
    "ranks as bool": (event(ranks=True), "events[1].ranks", "got `bool`", "correct"),
    "rank count differs": (event(rank_count=3), "events[1].rank_count", "is 3 but ranks names 2", "agree"),
    "arrivals of other ranks": (
        event(rank_arrival_us={"0": 1, "2": 1}),
        "events[1].rank_arrival_us",
        "differ at rank 1",
        "exactly one time per rank",
    ),
    "arrival missing": (event(rank_arrival_us={"0": 1}), "events[1].rank_arrival_us", "rank 1", "exactly one"),
    "arrival too many": (event(rank_arrival_us=[1, 2, 3]), "events[1].rank_arrival_us", "3 times for 2", "exactly one"),
    "no arrivals": (event(rank_arrival_us=[]), "events[1].rank_arrival_us", "0 times for 2", "exactly one"),
    "negative arrival": (event(rank_arrival_us=[0, -1]), "events[1].rank_arrival_us", "is -1.0", "0 to 1000000000000"),
    "arrival as text": (event(rank_arrival_us=["0", 1]), "events[1].rank_arrival_us[0]", "got `str`", "correct"),
    "arrival of a rank is null": (event(rank_arrival_us=[None, 1]), "events[1].rank_arrival_us[0]", "got `null`", ""),
    "skew on one rank": (event(ranks=1, arrival_skew_us=2), "events[1].arrival_skew_us", "2.0 on one rank", "apart"),
    "skew and arrivals differ": (
        event(rank_arrival_us=[0, 5], arrival_skew_us=4),
        "events[1].arrival_skew_us",
        "is 4.0 but rank_arrival_us spans 5.0 us",
        "give one of them",
    ),
    "negative skew": (event(arrival_skew_us=-1), "events[1].arrival_skew_us", "is -1.0", "0 to"),
    "negative gap": (event(gap_us=-0.5), "events[1].gap_us", "is -0.5", "0 to"),
    "gap too long": (event(gap_us=1.1e12), "events[1].gap_us", "is 1100000000000.0", "0 to"),
    "gap as bool": (event(gap_us=True), "events[1].gap_us", "got `bool`", "correct"),
    "negative start": (two({"start_us": -1}, {"start_us": 0}), "events[0].start_us", "is -1.0", "0 to"),
    "start and gap differ": (
        two({"start_us": 1}, {"start_us": 5, "gap_us": 3.9}),
        "events[1].gap_us",
        "is 3.9 but start_us is 4.0 us after",
        "leave gap_us out",
    ),
    "only some starts": (two({"gap_us": 1, "start_us": 1}, {}), "events[1].gap_us", "only 1 of 2 events", "on all"),
    "negative before": (event(compute_before_us=-2), "events[1].compute_before_us", "is -2.0", "0 to"),
    "negative overlap": (event(compute_overlap_us=-2), "events[1].compute_overlap_us", "is -2.0", "0 to"),
    "negative observed": (
        two({"observed_exposed_us": -1}, {"observed_exposed_us": 1}),
        "events[0].observed_exposed_us",
        "is -1.0",
        "0 to",
    ),
    "observed on some": (
        event(observed_exposed_us=1),
        "events[0].observed_exposed_us",
        "is missing while other events have it",
        "on all events or on none",
    ),
    "before of other ranks": (
        event(rank_compute_before_us={"0": 1, "7": 1}),
        "events[1].rank_compute_before_us",
        "differ at rank 1",
        "exactly one",
    ),
    "negative pressure": (event(compute_pressure=-0.1), "events[1].compute_pressure", "is -0.1", "0 or more"),
    "pressure null": (event(compute_pressure=None), "events[1].compute_pressure", "got `null`", "correct"),
    "concurrent groups negative": (event(concurrent_groups=-1), "events[1].concurrent_groups", "is -1", "0"),
    "concurrent groups huge": (event(concurrent_groups=10**19), "events[1].concurrent_groups", f"is {10**19}", "2^63"),
    "elements huge": (event(in_elements=2**63), "events[1].in_elements", f"is {2**63}", "2^63"),
    "elements negative": (event(out_elements=-1), "events[1].out_elements", "is -1", "2^63"),
    "sender outside": (event(sender_rank=2), "events[1].sender_rank", "is 2, which is not among", "one of the event"),
    "receiver outside": (event(receiver_rank=-1), "events[1].receiver_rank", "is -1", "one of the event"),
    "sends to itself": (
        event(**P2P | {"receiver_rank": 0}),
        "events[1].receiver_rank",
        "is 0, the sender",
        "different",
    ),
    "point to point without ends": (event(op="point_to_point"), "events[1].op", "without both ends", "sender_rank"),
    "point to point with one end": (event(**P2P | {"receiver_rank": None}), "events[1].op", "without both ends", ""),
    "root outside": (event(root_rank=5), "events[1].root_rank", "is 5, which is not among", "one of the event"),
    "empty tag": (event(tag=""), "events[1].tag", "is an empty string", "leave it out"),
    "empty channel": (event(channel=""), "events[1].channel", "is an empty string", "leave it out"),
    "tag as number": (event(tag=1), "events[1].tag", "got `int`", "correct"),
    "negative sequence": (event(message_sequence=-1), "events[1].message_sequence", "is -1", "0 or more"),
    "sequence huge": (event(message_sequence=2**63), "events[1].message_sequence", f"is {2**63}", "2^63"),
    "consumer nowhere": (event(consumed_by="x"), "events[1].consumed_by", "names 'x', which is not a later", "later"),
    "consumer earlier": (
        two({"id": "a"}, {"consumed_by": "a"}),
        "events[1].consumed_by",
        "names 'a', which is not a later event",
        "name the id of a later event",
    ),
    "consumes itself": (event(id="a", consumed_by="a"), "events[1].consumed_by", "names 'a'", "later"),
    "id used twice": (
        [{**EVENT, "consumed_by": "a"}, {**EVENT, "id": "a"}, {**EVENT, "id": "a"}],
        "events[2].id",
        "'a' is used twice",
        "unique",
    ),
    "metadata is no object": (event(metadata=[1]), "events[1].metadata", "got `array`", "correct"),
    "flag as number": (event(custom_op=1), "events[1].custom_op", "got `int`", "correct"),
    "gaps beyond int64": (
        [{**EVENT, "gap_us": 1e12}] * 9300,
        "events[9223].gap_us",
        "is 1000000000000.0",
        "add up to more than 2^63 ns",
    ),
}


def refused(path: Path, data: bytes) -> InputRefusal:
    path.write_bytes(data)
    with pytest.raises(InputRefusal) as caught:
        read_artifact(path, TRACE)
    refusal = caught.value
    assert refusal.exit_code == EXIT_REFUSED
    assert refusal.file == str(path)
    assert "\n" not in str(refusal)
    assert len(str(refusal)) < 1000
    return refusal


@pytest.mark.parametrize(("events", "place", "found", "remedy"), ROWS.values(), ids=ROWS.keys())
def test_rows(tmp_path: Path, events: Any, place: str, found: str, remedy: str) -> None:
    document = {"format": "commcanary.trace.v1", "events": events}
    refusal = refused(tmp_path / "trace.json", json.dumps(document).encode())
    assert refusal.place == place
    assert found in refusal.found
    assert remedy in refusal.remedy


def text(before: str, wrong: str, after: str = "}]}") -> bytes:
    return f'{{"format": "commcanary.trace.v1",\n "events": [{{{before}{wrong}{after}'.encode()


FIELDS = '"op": "all_reduce", "bytes": 8, "ranks": 2'

# name: (text, place, what is found there)
TEXTS: dict[str, tuple[bytes, str, str]] = {
    "truncated": (text(FIELDS, ', "gap_us": 1', ""), "line 2 column 69", "ends too early"),
    "truncated in a string": (b'{"format": "commcanary.tr', "line 1 column 26", "ends too early"),
    "NaN": (text(FIELDS, ', "gap_us": NaN'), "line 2 column 68", "not valid JSON"),
    "Infinity": (text(FIELDS, ', "gap_us": Infinity'), "line 2 column 68", "not valid JSON"),
    "1e400": (text(FIELDS, ', "gap_us": 1e400'), "events[0].gap_us", "out of range"),
    "trailing comma": (text(FIELDS, ",", "}]}"), "line 2 column 57", "not valid JSON"),
    "two documents": (text(FIELDS, "") + b" {}", "line 2 column 61", "not valid JSON"),
    "not UTF-8": (text(FIELDS, ', "phase": "', "").replace(b"all_reduce", b"\xff\xfe"), "", ""),
    "lone surrogate": (text(FIELDS, r', "phase": "\ud800"'), "", ""),
    "another format": (b'{"format": "other.v1", "events": []}', "format", "'other.v1'"),
    "no format": (b'{"events": []}', "format", "is ''"),
    "a list": (b"[]", "top level", "Expected `object`"),
    "deeply nested": (b"[" * 100_000, "", ""),
    "no events": (b'{"format": "commcanary.trace.v1"}', "top level", "missing required field `events`"),
    "empty file": (b"", "", "the file is empty"),
    "workload is no object": (
        b'{"format": "commcanary.trace.v1", "events": [], "workload": 3}',
        "workload",
        "Expected `object`, got `int`",
    ),
}


@pytest.mark.parametrize(("data", "place", "found"), TEXTS.values(), ids=TEXTS.keys())
def test_texts(tmp_path: Path, data: bytes, place: str, found: str) -> None:
    refusal = refused(tmp_path / "trace.json", data)
    assert refusal.place.startswith(place)
    assert found in refusal.found
    assert refusal.remedy


@pytest.mark.parametrize(("limit", "things"), [("MAX_SIGNATURES", "operations"), ("MAX_GROUPS", "process groups")])
def test_a_trace_that_no_reader_would_take_is_not_stored(
    limit: str, things: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = synthetic("mixed", 1, 40)
    to_stored(trace)
    monkeypatch.setattr(f"commcanary.artifacts.trace_table.{limit}", 0)
    with pytest.raises(InputRefusal, match=f"more than 0 different {things}"):
        to_stored(trace)
