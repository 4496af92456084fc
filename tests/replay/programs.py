"""Random programs for the replay tests, and short ways to write an `Events` by hand."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
from hypothesis import strategies as st

from commcanary.artifacts.events import STANDARD_OPS, UNKNOWN, Events, ProcessGroup, Ragged, Signature


def events_of(rows: list[dict[str, Any]], groups: tuple[ProcessGroup, ...]) -> Events:
    """Events of rows with `signature` and any of the column names; ns; what a row leaves out is 0 or unknown."""
    signatures = tuple(dict.fromkeys(row["signature"] for row in rows))

    def whole(name: str, default: int) -> np.ndarray:
        return np.array([row.get(name, default) for row in rows], dtype=np.int64)

    return Events(
        groups=groups,
        signatures=signatures,
        signature=np.array([signatures.index(row["signature"]) for row in rows], dtype=np.int32),
        gap_ns=whole("gap_ns", 0),
        offsets_ns=Ragged.of([row.get("offsets_ns", [0] * groups[row["signature"].group].size) for row in rows]),
        compute_before_ns=whole("compute_before_ns", UNKNOWN),
        rank_compute_before_ns=Ragged.of([row.get("rank_compute_before_ns") for row in rows]),
        compute_overlap_ns=whole("compute_overlap_ns", 0),
        compute_pressure=np.array([row.get("compute_pressure", 0.5) for row in rows], dtype=np.float64),
        observed_exposed_ns=whole("observed_exposed_ns", UNKNOWN),
        message_sequence=whole("message_sequence", UNKNOWN),
        consumer=whole("consumer", UNKNOWN),
        compute_uncertain=np.zeros(len(rows), np.bool_),
    )


def kind(op: str, payload: int, group: int = 0, phase: str = "unknown", **rest: Any) -> Signature:
    return Signature(op, payload, group, phase, **rest)


names = st.sampled_from(["default", "tp0", "dp", "", "größe→\U0001f40d", 'q"\\\n'])
some_ns = st.one_of(st.just(0), st.integers(0, 20_000), st.integers(0, 3_000_000), st.integers(0, 10**12))


@st.composite
def process_groups(draw: st.DrawFn, largest: int = 6) -> ProcessGroup:
    members = draw(st.lists(st.integers(0, largest), min_size=1, max_size=largest, unique=True))
    return ProcessGroup.of(draw(names), members)


@st.composite
def signatures(draw: st.DrawFn, groups: tuple[ProcessGroup, ...]) -> Signature:
    group = draw(st.integers(0, len(groups) - 1))
    members = groups[group].members
    op = draw(st.sampled_from([*sorted(STANDARD_OPS), "point_to_point", "fused"]))
    ends = (None, None)
    if op in ("send", "recv", "point_to_point") and len(members) > 1 and draw(st.booleans()):
        ends = tuple(draw(st.permutations(members))[:2])
    return Signature(
        op=op,
        bytes=draw(st.integers(1, 10**6) | st.integers(1, 10**8)),
        group=group,
        phase=draw(st.sampled_from(["unknown", "prefill", "decode", "ø"])),
        sender_rank=ends[0],
        receiver_rank=ends[1],
        tag=draw(st.sampled_from([None, None, "default", "t"])),
        channel=draw(st.sampled_from([None, None, "default", "c/é"])),
        concurrent_groups=draw(st.integers(0, 8)),
        custom_op=op == "fused",
        dtype=draw(st.sampled_from([None, "bfloat16"])),
    )


@st.composite
def open_loop_programs(draw: st.DrawFn, most_events: int = 25) -> Events:
    """Programs for scheduler-v4: everything that it reads is known, consumers and compute before are not."""
    groups = tuple(draw(st.lists(process_groups(), min_size=1, max_size=3)))
    kinds = draw(st.lists(signatures(groups), min_size=1, max_size=5))
    rows = []
    for _ in range(draw(st.integers(0, most_events))):
        kind = draw(st.sampled_from(kinds))
        size = groups[kind.group].size
        offsets = draw(st.lists(some_ns, min_size=size, max_size=size))
        rows.append(
            {
                "signature": kind,
                "gap_ns": draw(some_ns),
                "offsets_ns": [offset - min(offsets) for offset in offsets],
                "compute_overlap_ns": draw(some_ns),
                "compute_pressure": draw(st.one_of(st.floats(0, 2), st.sampled_from([0.0, 1e9]))),
                "message_sequence": draw(st.sampled_from([UNKNOWN, UNKNOWN, 0, 1, 2**40])),
            }
        )
    return events_of(rows, groups)


Rows = tuple[list[dict[str, Any]], tuple[ProcessGroup, ...]]


@st.composite
def closed_loop_rows(draw: st.DrawFn, at_once: bool = False, most_events: int = 12) -> Rows:
    """Programs for closed-loop-v1: groups that share ranks and streams, consumers named later, known compute."""
    rng = draw(st.randoms(use_true_random=False))
    return random_closed_loop_rows(rng, at_once, draw(st.integers(0, most_events)))


@st.composite
def closed_loop_programs(draw: st.DrawFn, at_once: bool = False, most_events: int = 12) -> Events:
    return events_of(*draw(closed_loop_rows(at_once, most_events)))


def random_closed_loop_rows(rng: Random, at_once: bool, count: int) -> Rows:
    """``count`` random events on up to six ranks."""
    ranks = rng.randint(1, 6)
    groups = tuple(
        ProcessGroup.of(rng.choice(["default", "", "a", "b"]), rng.sample(range(ranks), rng.randint(1, ranks)))
        for _ in range(rng.randint(1, 4))
    )
    kinds = [_random_kind(rng, groups) for _ in range(rng.randint(1, 5))]
    return [_random_row(rng, i, count, kinds, groups, at_once) for i in range(count)], groups


def _random_kind(rng: Random, groups: tuple[ProcessGroup, ...]) -> Signature:
    group = rng.randrange(len(groups))
    op = rng.choice(["all_reduce", "broadcast", "all_to_all", "point_to_point"])
    ends = {}
    if op == "point_to_point" and groups[group].size > 1:
        ends["sender_rank"], ends["receiver_rank"] = rng.sample(groups[group].members, 2)
    payload = rng.choice([1, 1000, 65_536, 262_144, rng.randint(1, 2 * 10**6)])
    return kind(op, payload, group, rng.choice("pd"), concurrent_groups=rng.randint(0, 3), **ends)


def _random_row(
    rng: Random,
    index: int,
    count: int,
    kinds: list[Signature],
    groups: tuple[ProcessGroup, ...],
    at_once: bool,
) -> dict[str, Any]:
    def some() -> int:
        return rng.choice([0, 0, 1000, 20_000, rng.randint(0, 3000), rng.randint(0, 200_000)])

    one = rng.choice(kinds)
    size = groups[one.group].size
    arrivals = [some() for _ in range(size)] if rng.random() < 0.5 else [0] * size
    row: dict[str, Any] = {
        "signature": one,
        "offsets_ns": [arrival - min(arrivals) for arrival in arrivals],
        "compute_before_ns": some(),
        "compute_overlap_ns": some(),
        "compute_pressure": rng.choice([0.0, 0.5, 1.0]),
        "message_sequence": rng.choice([UNKNOWN, 0, 1]),
    }
    if rng.random() < 0.2:
        row["rank_compute_before_ns"] = [some() for _ in range(size)]
    if not at_once and index + 1 < count and rng.random() < 0.6:
        row["consumer"] = min(count - 1, index + rng.randint(1, 8))
    return row
