"""Shards of one job become one trace, or are refused by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commcanary.artifacts.files import read_artifact, write_artifact
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.artifacts.trace_table import from_stored, to_stored
from commcanary.errors import EXIT_REFUSED, InputRefusal, IntegrityRefusal, Refusal
from commcanary.sources.capture.importer import NothingRecorded, merge_shards

from .shards import call, key, shard, written

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.artifacts.trace import Trace

ONE = [call(100)]


def merged(folder: Path, *shards: dict[str, Any]) -> Trace:
    return merge_shards(written(folder, *shards)).trace


def test_arrivals_gaps_and_compute_of_two_ranks(tmp_path: Path) -> None:
    zero = [call(1000, before=300), call(5000, before=900, overlap=0)]
    one = [call(1400, before=200, done=1500), call(4800, before=950, done=5100)]
    events = merged(tmp_path, shard(0, zero), shard(1, one)).events
    assert events.gap_ns.tolist() == [0, 3800]
    assert [events.offsets_ns.row(i) for i in (0, 1)] == [[0, 400], [200, 0]]
    assert [events.rank_compute_before_ns.row(i) for i in (0, 1)] == [[300, 200], [900, 950]]
    assert events.compute_before_ns.tolist() == [200, 900]
    assert events.observed_exposed_ns.tolist() == [100, 300]
    assert events.compute_uncertain.all()


def test_offsets_between_clocks_are_added_and_bounded(tmp_path: Path) -> None:
    far = {"id": "d", "offset_ns": -1_000_000, "error_ns": 2500}
    trace = merged(tmp_path, shard(0, ONE), shard(1, [call(1_000_130)], clock=far))
    assert trace.events.offsets_ns.row(0) == [0, 30]
    assert trace.header.system["clock"]["error_bound_us"] == 2.5
    assert trace.header.system["clock"]["offsets_us"] == {"0": 0.0, "1": -1000.0}


def test_clocks_that_nobody_compared_leave_arrivals_unknown(tmp_path: Path) -> None:
    far = {"id": "d", "offset_ns": None, "error_ns": None}
    trace = merged(tmp_path, shard(0, ONE), shard(1, [call(7)], clock=far))
    assert not trace.events.offsets_ns.known.any()
    assert "rank_arrival_us" in trace.header.unknown


def test_unwaited_call_and_first_call_of_a_thread_are_unknown(tmp_path: Path) -> None:
    zero = [call(100, before=-1), call(200, wait=-1, done=-1, overlap=40)]
    trace = merged(tmp_path, shard(0, zero), shard(1, [call(100), call(200)]))
    assert trace.events.compute_before_ns.tolist() == [-1, 0]
    assert trace.events.compute_overlap_ns.tolist() == [0, -1]
    assert trace.events.observed_exposed_ns.tolist() == [-1, -1]
    assert {"compute_before_us", "compute_overlap_us", "observed_exposed_us"} <= trace.header.unknown.keys()


def test_calls_on_a_device_have_no_times_but_their_issue(tmp_path: Path) -> None:
    keys = [key(device="cuda")]
    calls = [call(100, wait=-1, done=-1, before=50)]
    trace = merged(tmp_path, shard(0, calls, keys=keys), shard(1, calls, keys=keys))
    assert trace.events.compute_before_ns.tolist() == [-1]
    assert "device" in trace.header.unknown["compute_overlap_us"]


def test_consumer_is_the_first_call_after_the_wait(tmp_path: Path) -> None:
    calls = [
        call(100, wait=400, done=410),  # waited for after the next one was issued
        call(200, wait=420, done=430),  # waited for before anything else was issued
        call(500),
    ]
    trace = merged(tmp_path, shard(0, calls), shard(1, calls))
    assert trace.events.consumer.tolist() == [2, -1, -1]


def test_messages_are_paired_beside_the_group_and_groups_stay_distinct(tmp_path: Path) -> None:
    zero = shard(0, [call(100), call(200, key=1)], keys=[key(), key("send", peer=1, tag="3")])
    one = shard(1, [call(90, key=1), call(150)], keys=[key(), key("recv", peer=0, tag="3")])
    trace = merged(tmp_path, zero, one)
    kinds = [trace.events.signatures[s] for s in trace.events.signature]
    message = next(s for s in kinds if s.op == "point_to_point")
    assert (message.sender_rank, message.receiver_rank, message.tag) == (0, 1, "3")
    assert len(trace.header.groups) == len(set(trace.header.groups)) == 1
    path = tmp_path / "trace.parquet"
    write_artifact(path, TRACE, to_stored(trace))
    assert from_stored(read_artifact(path, TRACE)).content_id == trace.content_id


def test_uneven_sizes_keep_the_largest_and_no_counts(tmp_path: Path) -> None:
    small, large = key("all_to_all"), key("all_to_all", bytes=128, out_elements=32)
    trace = merged(tmp_path, shard(0, ONE, keys=[small]), shard(1, ONE, keys=[large]))
    (signature,) = trace.events.signatures
    assert (signature.bytes, signature.in_elements, signature.out_elements) == (128, None, None)


def test_coverage_counts_what_was_left_out(tmp_path: Path) -> None:
    left = [{"rule": "x", "fate": "unknown", "reason": "in C++", "count": 3, "ns": 30}]
    rows = merged(tmp_path, shard(0, ONE, left_out=left), shard(1, ONE)).header.coverage
    assert [(r.rank, r.rule, r.seen, r.taken, r.unknown, r.time_share) for r in rows] == [
        (0, "recorded call", 1, 1, 0, 0.25),
        (0, "x", 3, 0, 3, 0.75),
        (1, "recorded call", 1, 1, 0, 1.0),
    ]


def test_call_that_raised_is_no_record(tmp_path: Path) -> None:
    calls = [call(100), call(150, key=-1), call(200)]
    assert len(merged(tmp_path, shard(0, calls), shard(1, [call(100), call(200)]))) == 2


def test_no_records_at_all(tmp_path: Path) -> None:
    with pytest.raises(NothingRecorded, match="--auto"):
        merge_shards([])
    with pytest.raises(NothingRecorded, match="--allow-empty"):
        merge_shards(written(tmp_path, shard(0, []), shard(1, [])))


THREE = [{"name": "0", "ranks": [0, 1, 2]}]
WHOLE = {"world_size": 3, "groups": THREE}
REFUSED: list[tuple[str, list[dict[str, Any]], str]] = [
    ("missing rank", [shard(0, ONE, **WHOLE), shard(2, ONE, **WHOLE)], "1 of 3 ranks wrote none: 1"),
    ("missing rank, world unknown", [shard(0, ONE, world_size=-1)], "1 of 2 ranks wrote none: 1"),
    ("rank outside the world", [shard(0, ONE), shard(1, ONE), shard(2, ONE, groups=THREE)], "is 2 in a world of 2"),
    ("duplicate", [shard(0, ONE), shard(1, ONE), shard(1, ONE)], r"rank1-2\.json: rank: is 1, and so .*rank1-1\.json"),
    ("sessions", [shard(0, ONE), shard(1, ONE, session="t")], r"rank1-1\.json: session: is t but s in rank0-0\.json"),
    ("world", [shard(0, ONE), shard(1, ONE, world_size=4)], "world_size: is 4 but 2"),
    ("backend", [shard(0, ONE), shard(1, ONE, backend="nccl")], "backend: is 'nccl' but 'gloo'"),
    ("two ranks in one process", [shard(0, ONE), shard(1, ONE, conflict="was rank 1, then rank 0")], "was rank 1"),
    (
        "members",
        [shard(0, ONE), shard(1, ONE, groups=[{"name": "0", "ranks": [1, 0]}])],
        r"\[0, 1\] for process group '0' but \[1, 0\]",
    ),
    (
        "other operation",
        [shard(0, ONE), shard(1, ONE, keys=[key("broadcast", root=0)])],
        "call 0: rank 0 called all_reduce of 64 bytes but rank 1 called broadcast",
    ),
    ("other bytes", [shard(0, ONE), shard(1, ONE, keys=[key(bytes=32)])], "called all_reduce of 32 bytes"),
    ("one call more", [shard(0, [*ONE, call(200)]), shard(1, ONE)], r"rank 1 made no such call \(2 and 1 calls\)"),
    ("lost message", [shard(0, ONE, keys=[key("send", peer=1)]), shard(1, [])], "rank 1 made no such call"),
]


@pytest.mark.parametrize(("shards", "said"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_shards_of_no_single_job_are_refused(tmp_path: Path, shards: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(IntegrityRefusal, match=said) as refused:
        merged(tmp_path, *shards)
    assert refused.value.exit_code == EXIT_REFUSED


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"records": 2}, "columns.key: has 1 entries for 2"),
        ({"keys": []}, "columns.key: names key 0 of 0"),
        ({"rank": -1}, "rank"),
        ({"format": "commcanary.trace.v1"}, "format|tag"),
        ({"surplus": 1}, "surplus"),
        ({"keys": [key(group=7)]}, r"keys\[0\].group: is 7 of 1"),
        ({"keys": [key(root=5)]}, r"keys\[0\].root: is 5"),
        ({"keys": [key("recv", peer=-1)]}, r"keys\[0\].peer: is -1"),
        ({"keys": [key(bytes=0)]}, "bytes"),
        ({"clock": {"id": "a", "offset_ns": 2**63, "error_ns": 0}}, "clock.offset_ns|int <= "),
        ({"clock": {"id": "a", "offset_ns": 0, "error_ns": 2**64}}, "clock.error_ns|int <= "),
        ({"groups": [{"name": "0", "ranks": [1, 1]}]}, "name a rank twice"),
        ({"groups": [{"name": "0", "ranks": [1, 2]}]}, "lack the shard's own rank 0"),
    ],
)
def test_file_that_is_no_shard_is_refused(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputRefusal, match=said) as refused:
        merge_shards(written(tmp_path, {**shard(0, ONE), **changes}))
    assert ".json" in str(refused.value)


def test_end_before_the_issue_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match=r"columns.done\[0\]: is 50, before its issue at 100"):
        merged(tmp_path, shard(0, [call(100, done=50)]), shard(1, ONE))
