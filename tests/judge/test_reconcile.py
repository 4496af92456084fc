"""Counts of several sources of one job, side by side."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from commcanary.artifacts.events import ProcessGroup, Ragged, Signature
from commcanary.artifacts.trace import Coverage, Trace, TraceHeader
from commcanary.errors import UsageError
from commcanary.judge.reconcile import reconcile
from commcanary.sources.execution_trace.importer import import_execution_traces
from commcanary.sources.execution_trace.settings import ExecutionTraceSettings
from commcanary.sources.flight_recorder.importer import import_flight_recorder
from commcanary.sources.kineto.importer import import_kineto

ROOT = Path(__file__).resolve().parents[2]


def trace(
    *calls: tuple[str, int, ProcessGroup], ranks: tuple[int, ...] = (0, 1), coverage: tuple[Coverage, ...] = ()
) -> Trace:
    """A trace of (operation, bytes, group), as a source that saw ``ranks`` gives it."""
    from commcanary.artifacts.events import UNKNOWN, Events

    groups = tuple(dict.fromkeys(group for _, _, group in calls))
    signatures = []
    for op, size, group in calls:
        ends = (
            {"sender_rank": group.members[0], "receiver_rank": group.members[1]}
            if op in ("send", "point_to_point")
            else {}
        )
        signatures.append(Signature(op=op, bytes=size, group=groups.index(group), **ends))
    n = len(calls)
    unknown = np.full(n, UNKNOWN, np.int64)
    events = Events(
        groups=groups,
        signatures=tuple(signatures),
        signature=np.arange(n, dtype=np.int32),
        gap_ns=np.zeros(n, np.int64),
        offsets_ns=Ragged.unknown(n),
        compute_before_ns=unknown,
        rank_compute_before_ns=Ragged.unknown(n),
        compute_overlap_ns=unknown,
        compute_pressure=np.full(n, 0.5),
        observed_exposed_ns=unknown,
        message_sequence=unknown,
        consumer=unknown,
        compute_uncertain=np.zeros(n, np.bool_),
    )
    return Trace.of(TraceHeader(system={"profiled_ranks": list(ranks)}, coverage=coverage), events)


PAIR = ProcessGroup("0", 2)
OTHER_NAME = ProcessGroup("0x5eed", (0, 1))
ELSEWHERE = ProcessGroup("dp", (2, 3))


def test_groups_are_told_apart_by_their_ranks() -> None:
    found = reconcile({"a": trace(("all_reduce", 8, PAIR)), "b": trace(("all_reduce", 8, OTHER_NAME))})
    assert found.closes
    assert [(row.op, row.ranks, row.bytes, row.counts) for row in found.rows] == [("all_reduce", (0, 1), 8, (1, 1))]
    assert found.first_differences == ()


def test_what_is_short_is_named_with_what_it_left_out() -> None:
    lost = Coverage(0, "operation without an entry", 3, 0, unknown=3, reason="not recorded")
    control = Coverage(0, "record", 5, 0, skipped=5, reason="control: wait")
    found = reconcile(
        {
            "a": trace(("all_reduce", 8, PAIR), ("broadcast", 4, PAIR), ("all_reduce", 8, PAIR)),
            "b": trace(("all_reduce", 8, PAIR), ("all_reduce", 8, PAIR), coverage=(lost, control)),
        }
    )
    assert not found.closes
    assert [(row.op, row.counts, row.closes, row.short) for row in found.rows] == [
        ("all_reduce", (2, 2), True, ()),
        ("broadcast", (1, 0), False, ("b",)),
    ]
    assert found.sources[1].left_out == ("rank 0: 3 x operation without an entry: not recorded",)
    (difference,) = found.first_differences
    assert (difference.index, difference.told) == (1, ("a: broadcast of 4 bytes", "b: all_reduce of 8 bytes"))


def test_a_source_that_saw_none_of_the_ranks_says_nothing() -> None:
    whole = trace(("all_reduce", 8, PAIR), ("all_reduce", 8, ELSEWHERE), ranks=(0, 1, 2, 3))
    found = reconcile({"all": whole, "two": trace(("all_reduce", 8, PAIR))})
    assert found.closes
    assert [row.counts for row in found.rows] == [(1, 1), (1, None)]


def test_one_end_of_a_message_counts_like_both() -> None:
    both, one = trace(("point_to_point", 8, PAIR)), trace(("send", 8, PAIR), ranks=(0,))
    assert reconcile({"a": both, "b": one}).closes


def test_one_source_is_no_reconciliation() -> None:
    with pytest.raises(UsageError, match="two traces or more"):
        reconcile({"a": trace(("all_reduce", 8, PAIR))})


def test_one_real_job_of_three_sources() -> None:
    """Four profiled steps of three all-reduces, an all-gather and a message; the recorder saw a step before them."""
    folder = ROOT / "resources" / "one_job"
    kineto = import_kineto([folder / f"rank{rank}.pt.trace.json.gz" for rank in (0, 1)]).trace
    traces = [folder / f"et_rank{rank}.json.gz" for rank in (0, 1)]
    executed = import_execution_traces(traces, ExecutionTraceSettings(ranks=(0, 1))).trace
    recorded = import_flight_recorder([folder / f"fr_rank{rank}.json" for rank in (0, 1)]).trace
    assert reconcile({"kineto": kineto, "execution trace": executed}).closes
    found = reconcile({"kineto": kineto, "execution trace": executed, "recorder": recorded})
    assert {(row.op, row.counts) for row in found.rows} == {
        ("all_reduce", (4, 4, 5)),
        ("all_gather", (4, 4, 5)),
        ("point_to_point", (4, 4, 0)),
    }
    assert any("no send or receive" in line for line in found.sources[2].left_out)
