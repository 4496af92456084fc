"""Random valid traces: every field, unknown or known, whole nanoseconds."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from commcanary.artifacts.events import STANDARD_OPS, UNKNOWN, Events, ProcessGroup, Ragged, Signature
from commcanary.artifacts.stored import Lineage, SourceFile
from commcanary.artifacts.trace import Coverage, Trace, TraceHeader
from commcanary.artifacts.trace_checks import MAX_TIME_NS

names = st.sampled_from(["tp0", "default", "décode", "集合", "a b", "", "-1", "unknown"]) | st.text(max_size=6)
labels = st.sampled_from(["0", "fwd", "é"]) | st.text(min_size=1, max_size=4)
times = st.integers(0, 3_000) | st.integers(0, 10**9) | st.sampled_from([0, 1, 999, 1000, 1_000_000])
extreme_times = times | st.just(MAX_TIME_NS)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
json_objects = st.dictionaries(st.text(max_size=5), json_values, max_size=3)
finite = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def process_groups(draw: st.DrawFn) -> ProcessGroup:
    members = draw(
        st.integers(1, 4).map(lambda n: tuple(range(n)))
        | st.lists(st.integers(0, 5) | st.integers(0, 10**6), min_size=1, max_size=4, unique=True).map(tuple)
    )
    return ProcessGroup.of(draw(names), members)


@st.composite
def signatures(draw: st.DrawFn, groups: list[ProcessGroup]) -> Signature:
    number = draw(st.integers(0, len(groups) - 1))
    members = groups[number].members
    ends: dict[str, Any] = {}
    ops = [op for op in sorted(STANDARD_OPS) if op != "point_to_point"]
    if len(members) > 1 and draw(st.booleans()):
        sender = draw(st.sampled_from(members))
        ends = {
            "sender_rank": sender,
            "receiver_rank": draw(st.sampled_from([m for m in members if m != sender])),
            "tag": draw(st.none() | labels),
            "channel": draw(st.none() | labels),
        }
        ops = [*ops, "point_to_point"]
    custom = draw(st.booleans())
    return Signature(
        op=draw(labels if custom else st.sampled_from(ops)) if not (custom and ends) else "point_to_point",
        bytes=draw(st.integers(1, 4096) | st.just(2**63 - 1)),
        group=number,
        phase=draw(names),
        concurrent_groups=draw(st.integers(0, 3)),
        custom_op=custom,
        dtype=draw(st.none() | st.sampled_from(["bfloat16", ""])),
        root_rank=draw(st.none() | st.sampled_from(members)),
        reduction_op=draw(st.none() | st.sampled_from(["sum", "max"])),
        in_elements=draw(st.none() | st.integers(0, 2**40)),
        out_elements=draw(st.none() | st.integers(0, 2**40)),
        **ends,
    )


@st.composite
def headers(draw: st.DrawFn) -> TraceHeader:
    digest = st.text("0123456789abcdef", min_size=64, max_size=64)
    return TraceHeader(
        workload=draw(st.just({}) | json_objects),
        system=draw(st.just({}) | json_objects),
        lineage=draw(st.none() | st.builds(Lineage, digest, labels, st.integers(1, 10**9))),
        unknown=draw(st.dictionaries(labels, labels, max_size=2)),
        assumptions=draw(st.dictionaries(labels, finite, max_size=2)),
        coverage=tuple(
            draw(
                st.lists(
                    st.builds(Coverage, st.none() | st.integers(0, 9), labels, st.integers(0, 9), st.integers(0, 9)),
                    max_size=2,
                )
            )
        ),
        notes=draw(st.just({}) | json_objects),
        source_files=tuple(draw(st.lists(st.builds(SourceFile, labels, st.integers(0, 10**12), digest), max_size=2))),
    )


@st.composite
def events(draw: st.DrawFn, max_events: int = 12, largest: st.SearchStrategy[int] = extreme_times) -> Events:
    """Valid events; every time comes from ``largest``."""
    groups = draw(st.lists(process_groups(), min_size=1, max_size=3, unique=True))
    kinds = draw(st.lists(signatures(groups), min_size=1, max_size=4, unique=True))
    order = draw(st.lists(st.integers(0, len(kinds) - 1), min_size=1, max_size=max_events))
    count = len(order)

    def column(values: st.SearchStrategy[int], kind: Any = np.int64) -> Any:
        return np.asarray(draw(st.lists(values, min_size=count, max_size=count)), kind)

    def per_rank(first_at_zero: bool) -> Ragged:
        lists: list[list[int] | None] = []
        for number in order:
            size = groups[kinds[number].group].size
            row = draw(st.none() | st.just([0] * size) | st.lists(largest, min_size=size, max_size=size))
            lists.append(row if row is None or not first_at_zero else [value - min(row) for value in row])
        return Ragged.of(lists)

    maybe = st.just(UNKNOWN) | largest
    consumer = [
        draw(st.just(UNKNOWN) | st.integers(i + 1, count - 1)) if i + 1 < count else UNKNOWN for i in range(count)
    ]
    linked = draw(st.booleans())
    return Events(
        groups=tuple(groups),
        signatures=tuple(kinds),
        signature=np.asarray(order, np.int32),
        gap_ns=column(largest),
        offsets_ns=per_rank(True) if draw(st.booleans()) else Ragged.unknown(count),
        compute_before_ns=column(maybe),
        rank_compute_before_ns=per_rank(False) if draw(st.booleans()) else Ragged.unknown(count),
        compute_overlap_ns=column(maybe | st.just(0)),
        compute_pressure=np.asarray(
            draw(st.lists(st.just(0.5) | st.floats(0, 4) | st.just(0.0), min_size=count, max_size=count)), np.float64
        )
        + 0.0,
        observed_exposed_ns=column(largest) if draw(st.booleans()) else np.full(count, UNKNOWN, np.int64),
        message_sequence=column(st.just(UNKNOWN) | st.integers(0, 3) | st.just(2**63 - 1)),
        consumer=np.asarray(consumer if linked else [UNKNOWN] * count, np.int64),
        compute_uncertain=column(st.booleans(), np.bool_),
    )


@st.composite
def traces(draw: st.DrawFn, max_events: int = 12) -> Trace:
    """Valid traces with every field of the format."""
    rows = draw(events(max_events, largest=draw(st.sampled_from([times, extreme_times]))))
    count = len(rows)
    starts = np.full(count, UNKNOWN, np.int64)
    given_starts = draw(st.sampled_from(["none", "some", "all"]))
    clock = np.cumsum(rows.gap_ns)
    if given_starts == "some":
        starts = np.asarray(draw(st.lists(st.just(UNKNOWN) | times, min_size=count, max_size=count)), np.int64)
        starts[draw(st.integers(0, count - 1))] = UNKNOWN
    elif given_starts == "all" and clock[-1] - clock[0] <= MAX_TIME_NS:
        starts = clock - clock[0] + draw(st.integers(0, MAX_TIME_NS - int(clock[-1] - clock[0])))
    ids = metadata = None
    if draw(st.booleans()):
        pool = st.text(max_size=4) | st.integers(0, count).map(lambda n: f"#{n}")
        given_ids = draw(st.lists(pool, min_size=count, max_size=count, unique=True))
        ids = tuple(None if draw(st.booleans()) else name for name in given_ids)
    if draw(st.booleans()):
        from commcanary.artifacts.canonical import canonical_json

        metadata = tuple(
            None if given is None else canonical_json(given).decode()
            for given in draw(st.lists(st.none() | json_objects, min_size=count, max_size=count))
        )
    return Trace.of(draw(headers()), rows, starts, ids, metadata)
