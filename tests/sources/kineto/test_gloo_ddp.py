"""The repository's own gloo profiles, with counts written out in resources/gloo_ddp/README.md."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from commcanary.artifacts.files import read_artifact, write_artifact
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.artifacts.trace_table import from_stored, to_stored
from commcanary.sources.kineto.importer import import_kineto
from commcanary.sources.kineto.settings import KinetoSettings

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.artifacts.trace import Trace

BUCKETS = [9034, 24704, 86208, 229824, 131584, 32768]


@pytest.fixture(scope="module")
def trace(gloo_ddp: list[Path]) -> Trace:
    return import_kineto(gloo_ddp, KinetoSettings(assume_shared_clock=True)).trace


def test_every_call_is_an_event(trace: Trace) -> None:
    events = trace.events
    seen = Counter(
        (s.op, s.bytes, s.in_elements, s.out_elements, s.dtype, s.phase)
        for s in (events.signatures[i] for i in events.signature)
    )
    expected = Counter(
        {("all_reduce", 4 * n, n, n, "float32", "backward"): 24 for n in BUCKETS}
        | {("all_reduce", 4, 1, 1, "float32", "unknown"): 6, ("all_gather", 160, 10, 20, "int64", "unknown"): 1}
    )
    assert seen == expected
    assert [(g.name, g.members) for g in events.groups] == [("0", (0, 1))]


def test_summary_counts(gloo_ddp: list[Path]) -> None:
    assert import_kineto(gloo_ddp).summary == "imported 151 collective events (skipped 0 control, 0 empty)"


def test_arrivals_are_the_issues_on_the_shared_clock(trace: Trace, gloo_ddp: list[Path]) -> None:
    issued = [_issues_ns(path) for path in gloo_ddp]
    first = np.minimum(issued[0], issued[1])
    assert trace.start_ns.tolist() == (first - first[0]).tolist()
    assert trace.events.gap_ns.tolist() == [0, *np.diff(first).tolist()]
    for index in range(len(trace)):
        assert trace.events.offsets_ns.row(index) == [issued[0][index] - first[index], issued[1][index] - first[index]]


def test_without_a_clock_skew_is_unknown_and_the_first_rank_gives_the_gaps(gloo_ddp: list[Path]) -> None:
    trace = import_kineto(gloo_ddp[::-1]).trace
    assert not trace.events.offsets_ns.known.any()
    assert "rank_arrival_us" in trace.header.unknown
    issued = _issues_ns(gloo_ddp[1])
    assert trace.start_ns.tolist() == (issued - issued[0]).tolist()


def test_what_gloo_cannot_know_is_unknown(trace: Trace) -> None:
    assert (trace.events.compute_overlap_ns == -1).all()
    assert (trace.events.observed_exposed_ns == -1).all()
    assert all(s.reduction_op is None for s in trace.events.signatures)
    assert {"compute_overlap_us", "observed_exposed_us", "reduction_op", "phase"} <= trace.header.unknown.keys()


def test_compute_before_lies_between_time_in_operators_and_time_since_the_last_call(
    trace: Trace, gloo_ddp: list[Path]
) -> None:
    for rank, path in enumerate(gloo_ddp):
        calls, operators = _calls_ns(path), _operators_ns(path)
        for index in range(1, 40):
            since, until = calls[index - 1][1], calls[index][0]
            inside = [(max(a, since), min(b, until)) for a, b in operators if a < until and b > since]
            lower = _union(inside)
            row = trace.events.rank_compute_before_ns.row(index)
            assert row is not None
            assert lower <= row[rank] <= until - since
        assert trace.events.compute_before_ns[39] == min(trace.events.rank_compute_before_ns.row(39) or [])


def test_one_rank_alone_knows_no_arrival(gloo_ddp: list[Path]) -> None:
    trace = import_kineto(gloo_ddp[:1], KinetoSettings(assume_shared_clock=True)).trace
    assert len(trace) == 151
    assert not trace.events.offsets_ns.known.any()
    assert trace.header.unknown["rank_arrival_us"].startswith("one rank")


def test_coverage_accounts_for_every_rank(trace: Trace, gloo_ddp: list[Path]) -> None:
    assert [(c.rank, c.rule, c.seen, c.taken, c.time_share) for c in trace.header.coverage] == [
        (0, "c10d operator", 151, 151, 1.0),
        (1, "c10d operator", 151, 151, 1.0),
    ]
    assert [f.name for f in trace.header.source_files] == [p.name for p in gloo_ddp]
    assert [f.bytes for f in trace.header.source_files] == [p.stat().st_size for p in gloo_ddp]


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
def test_both_containers_give_the_same_content(trace: Trace, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"trace{suffix}"
    write_artifact(path, TRACE, to_stored(trace))
    assert from_stored(read_artifact(path, TRACE)).content_id == trace.content_id


def test_estimated_clock_agrees_with_the_shared_one_within_its_bound(trace: Trace, gloo_ddp: list[Path]) -> None:
    estimated = import_kineto(gloo_ddp, KinetoSettings(estimate_clock=True)).trace
    clock = estimated.header.system["clock"]
    # both ranks read one clock, so the true offset is 0
    assert abs(clock["offsets_us"]["1"]) <= clock["error_bound_us"]
    assert abs(clock["offsets_us"]["1"]) < 50


def _events(path: Path) -> list[dict]:
    return json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]


def _calls_ns(path: Path) -> list[tuple[int, int]]:
    calls = [e for e in _events(path) if e["name"].startswith("c10d::")]
    return sorted((round(e["ts"] * 1000), round(e["ts"] * 1000) + round(e["dur"] * 1000)) for e in calls)


def _operators_ns(path: Path) -> list[tuple[int, int]]:
    own = [e for e in _events(path) if e.get("cat") == "cpu_op" and not e["name"].startswith("c10d::")]
    thread = next(e["tid"] for e in _events(path) if e["name"].startswith("c10d::"))
    return [(round(e["ts"] * 1000), round(e["ts"] * 1000) + round(e["dur"] * 1000)) for e in own if e["tid"] == thread]


def _issues_ns(path: Path) -> np.ndarray:
    return np.array([start for start, _ in _calls_ns(path)])


def _union(spans: list[tuple[int, int]]) -> int:
    total, reached = 0, -1
    for a, b in sorted(spans):
        total += max(0, b - max(a, reached))
        reached = max(reached, b)
    return total
