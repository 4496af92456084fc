"""The Merkle root against hashlib, and the first segment that differs."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from tests.artifacts.test_content import oracle_digest

from commcanary.artifacts.commitment import SEGMENT_EVENTS, commit
from commcanary.artifacts.stored import Stored
from commcanary.artifacts.trace import Trace, TraceHeader
from commcanary.artifacts.trace_table import to_stored
from commcanary.sources.synthetic.mixed import mixed


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def leaf(stored: Stored[TraceHeader], start: int) -> bytes:
    """A leaf from the plain values of its rows, by the oracle of the content id."""
    assert stored.table is not None
    rows = stored.table.slice(start, SEGMENT_EVENTS)
    names = {"int64": "int64", "double": "float64", "bool": "bool", "string": "string"}
    columns = {field.name: names.get(str(field.type), "list<int64>") for field in rows.schema}
    digest = oracle_digest({name: (kind, rows.column(name).to_pylist()) for name, kind in columns.items()})
    return sha256(b"\x00" + bytes.fromhex(digest))


def groups_text(trace: Trace) -> bytes:
    texts = (
        f'{{"name":"{g.name}","ranks":{g.ranks if isinstance(g.ranks, int) else str(list(g.ranks)).replace(" ", "")}}}'
        for g in trace.events.groups
    )
    return f"[{','.join(texts)}]".encode()


def test_root_of_one_segment() -> None:
    trace = mixed(1, 20)
    stored = to_stored(trace)
    made = commit(stored)
    assert made.root == sha256(b"\x02" + groups_text(trace) + leaf(stored, 0)).hex()
    assert made.leaves == (leaf(stored, 0).hex(),)
    assert made.named_segments == ()


def test_root_of_three_segments() -> None:
    trace = mixed(1, 2 * SEGMENT_EVENTS + 1)
    stored = to_stored(trace)
    leaves = [leaf(stored, start) for start in (0, SEGMENT_EVENTS, 2 * SEGMENT_EVENTS)]
    top = sha256(b"\x01" + sha256(b"\x01" + leaves[0] + leaves[1]) + leaves[2])
    made = commit(stored)
    assert made.root == sha256(b"\x02" + groups_text(trace) + top).hex()
    assert made.named_segments == tuple(each.hex()[:16] for each in leaves)


def test_a_known_answer() -> None:
    """Frozen on purpose: a root that moves breaks every canary that was ever made."""
    assert SEGMENT_EVENTS == 4096
    from commcanary.sources.synthetic.ranking_inversion import ranking_inversion

    assert commit(to_stored(ranking_inversion())).root == (
        "cb735d40fa75500e986500439c9cb6e6f20267d66d0eb3aed7a4b86e061ba3fe"
    )


@pytest.mark.parametrize("row", [0, SEGMENT_EVENTS - 1, SEGMENT_EVENTS, 2 * SEGMENT_EVENTS + 5])
def test_the_first_segment_that_differs_holds_the_changed_row(row: int) -> None:
    trace = mixed(1, 2 * SEGMENT_EVENTS + 10)
    before = commit(to_stored(trace))
    trace.events.gap_ns[row] += 1
    after = commit(to_stored(trace))
    differing = [i for i, (a, b) in enumerate(zip(before.leaves, after.leaves, strict=True)) if a != b]
    assert differing == [row // SEGMENT_EVENTS]
    assert before.root != after.root


def test_order_is_bound() -> None:
    trace = mixed(1, 50)
    swapped = np.arange(50)
    swapped[[10, 11]] = [11, 10]
    rows = to_stored(trace)
    assert rows.table is not None
    moved = Stored(rows.header, rows.table.take(swapped))
    assert commit(moved).root != commit(rows).root


def test_groups_are_bound() -> None:
    rows = to_stored(mixed(1, 50))
    groups = (*rows.header.groups[:-1], type(rows.header.groups[0])("elsewhere", 4))
    assert commit(Stored(TraceHeader(groups=groups), rows.table)).root != commit(rows).root
