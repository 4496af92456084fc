"""The example export against what its writer says of it, in every shape that exports have."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from commcanary.errors import InputRefusal
from commcanary.sources.nsys.importer import import_nsys
from commcanary.sources.nsys.settings import NsysSettings

from .exports import ROOT, changed, two_ranks

if TYPE_CHECKING:
    from commcanary.artifacts.trace import Trace

US = 1_000
DECLARED = NsysSettings(assume_default_group=True)

# per step: operation, bytes, phase, reduction; gap, compute before, overlap and exposed (of the longest exposed), us.
# An all-gather of 4096 bytes a rank is 8192, an exchange of 2048 bytes to each of two ranks is 4096. Rank 1 has the
# shorter matrix product beside its all-reduce: 20 of 40 us.
STEP = [
    ("all_gather", 8192, "forward", None, 480, 60, 0, 20),
    ("all_reduce", 1 << 20, "backward", "sum", 210, 0, 20, 20),
    ("all_to_all", 4096, "unknown", None, 310, 0, 0, 20),
]


def rows(trace: Trace) -> list[tuple[Any, ...]]:
    events = trace.events
    signatures = [events.signatures[i] for i in events.signature]
    columns = (events.gap_ns, events.compute_before_ns, events.compute_overlap_ns, events.observed_exposed_ns)
    numbers = np.stack(columns, axis=1) // US
    return [(s.op, s.bytes, s.phase, s.reduction_op, *n) for s, n in zip(signatures, numbers.tolist(), strict=True)]


def check(trace: Trace) -> None:
    expected = STEP * 3
    expected[0] = (*STEP[0][:4], 0, *STEP[0][5:])
    assert rows(trace) == expected
    assert [trace.events.offsets_ns.row(i) for i in range(9)] == [[0, 10 * US]] * 9
    assert [g.members for g in trace.events.groups] == [(0, 1)]


def test_the_committed_example_is_what_its_script_writes(tmp_path: Path) -> None:
    with (
        closing(sqlite3.connect(ROOT / "resources" / "nsys" / "two_ranks.sqlite")) as committed,
        closing(sqlite3.connect(two_ranks(tmp_path / "again.sqlite"))) as again,
    ):
        assert list(committed.iterdump()) == list(again.iterdump())


SHAPES: list[tuple[str, dict[str, Any], NsysSettings | None]] = [
    ("since 2.25", {}, None),
    ("before 2.25", {"version": "2.21"}, DECLARED),
    ("text in the events", {"registered": False}, None),
    ("renamed tables", {"suffix": "_V2"}, None),
    ("renamed twice", {"suffix": "_V13"}, None),
]


@pytest.mark.parametrize(("how", "settings"), [shape[1:] for shape in SHAPES], ids=[shape[0] for shape in SHAPES])
def test_every_shape_gives_the_same_events(tmp_path: Path, how: dict[str, Any], settings: NsysSettings | None) -> None:
    done = import_nsys([two_ranks(tmp_path / "job.sqlite", **how)], settings)
    check(done.trace)
    assert done.summary == "imported 9 collective events (skipped 0 control, 0 empty)"
    assert done.counts == tuple(f"rank {r}: 9 calls in 9 launches, 9 NCCL kernels: they close" for r in (0, 1))
    assert [(c.rank, c.seen, c.taken) for c in done.trace.header.coverage] == [
        (0, 9, 9),
        (0, 9, 9),
        (1, 9, 9),
        (1, 9, 9),
    ]
    assert {"dtype", "in_elements", "phase", "compute_pressure"} == done.trace.header.unknown.keys()


CHANGES = [
    ("blobs as hexadecimal text", "UPDATE NVTX_EVENTS SET binaryData = hex(binaryData) WHERE binaryData IS NOT NULL"),
    ("no column of process on kernels", "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN globalPid"),
    ("short names only", "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN demangledName"),
    ("no start of the session", "DROP TABLE TARGET_INFO_SESSION_START_TIME"),
    ("a newer table without rows", "CREATE TABLE NVTX_EVENTS_V2 (start INTEGER)"),
    ("no META_DATA", "DROP TABLE META_DATA_EXPORT"),
    ("no schema heads", "DROP TABLE NVTX_PAYLOAD_SCHEMAS"),
    ("rows in another order", "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET rowid = 1000 - rowid"),
    (
        "a named domain beside another's ranges",
        "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) "
        "SELECT DISTINCT 0, NULL, 75, 'NCCL', globalTid, 1 FROM NVTX_EVENTS",
    ),
]


@pytest.mark.parametrize("change", [c[1] for c in CHANGES], ids=[c[0] for c in CHANGES])
def test_what_does_not_matter(tmp_path: Path, change: str) -> None:
    check(import_nsys([changed(two_ranks(tmp_path / "job.sqlite"), change)]).trace)


def test_ranges_of_another_domain_that_look_like_calls_are_none(tmp_path: Path) -> None:
    path = changed(
        two_ranks(tmp_path / "job.sqlite"),
        "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) "
        "SELECT DISTINCT 0, NULL, 75, 'NCCL', globalTid, 1 FROM NVTX_EVENTS",
        "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) "
        "SELECT 5, 6, 59, 'ncclAllReduce', globalTid, 0 FROM NVTX_EVENTS LIMIT 1",
    )
    check(import_nsys([path]).trace)


def test_numbers_of_layouts_do_not_decide(tmp_path: Path) -> None:
    """16777232 is the reduction operator in 2.27 and AlltoAll later; 16777227 was the operator before."""
    path = two_ranks(tmp_path / "job.sqlite")
    swap = "CASE schemaId WHEN 16777220 THEN 16777221 WHEN 16777221 THEN 16777220 ELSE schemaId END"
    changed(path, f"UPDATE NVTX_PAYLOAD_SCHEMA_ENTRIES SET schemaId = {swap}")
    with closing(sqlite3.connect(path)) as connection:
        for row, blob in connection.execute(
            "SELECT rowid, binaryData FROM NVTX_EVENTS WHERE binaryData IS NOT NULL"
        ).fetchall():
            number = int.from_bytes(blob[8:16], "little")
            number = {16777220: 16777221, 16777221: 16777220}.get(number, number)
            connection.execute(
                "UPDATE NVTX_EVENTS SET binaryData = ? WHERE rowid = ?",
                (blob[:8] + number.to_bytes(8, "little") + blob[16:], row),
            )
        connection.commit()
    check(import_nsys([path]).trace)


def test_trim_keeps_events_that_lie_inside_on_every_rank(tmp_path: Path) -> None:
    # rank 1's exchange of the second step ends at 2670 us, rank 0's at 2660
    path = two_ranks(tmp_path / "job.sqlite")
    for end_us, expected in ((2670, 3), (2669.999, 2)):
        done = import_nsys([path], NsysSettings(trim_s=(0.002, end_us / 1e6)))
        assert len(done.trace) == expected
        assert [(c.seen, c.taken, c.skipped) for c in done.trace.header.coverage if c.time_share is not None] == [
            (9, expected, 9 - expected)
        ] * 2
    with pytest.raises(
        InputRefusal, match=r"--trim: no event lies inside 5 to 6 s; events lie between 0\.001 and 0\.004"
    ):
        import_nsys([path], NsysSettings(trim_s=(5, 6)))


def test_call_sites_are_the_ranges_around_a_call(tmp_path: Path) -> None:
    path = changed(
        two_ranks(tmp_path / "job.sqlite"),
        "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) SELECT start - 1, end + 1, 59, "
        "'c10d::allreduce_, seq = 4, op_id = 77', globalTid, 0 FROM NVTX_EVENTS WHERE start IN (1310000, 1320000)",
    )
    metadata = import_nsys([path]).trace.metadata
    assert metadata is not None
    assert metadata[:3] == ('{"call_site":"forward"}', '{"call_site":"backward > c10d::allreduce_"}', None)


def test_several_exports_need_a_clock(tmp_path: Path) -> None:
    """One export a rank: the same job, whose clocks are then not known to agree."""
    paths = []
    for rank, other in ((0, 112), (1, 111)):
        path = two_ranks(tmp_path / f"node{rank}.sqlite")
        process = f"(globalTid / 16777216) % 16777216 = {other}"
        changed(
            path,
            f"DELETE FROM NVTX_EVENTS WHERE {process}",
            f"DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE {process}",
            f"DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE deviceId = {1 - rank}",
        )
        paths.append(path)
    alone = import_nsys(paths).trace
    assert not alone.events.offsets_ns.known.any()
    assert "several exports" in alone.header.unknown["rank_arrival_us"]
    check(import_nsys(paths, NsysSettings(assume_shared_clock=True)).trace)
    one = import_nsys(paths[:1]).trace  # one node of the job: the other rank's arrivals are not in it
    assert len(one) == 9
    assert not one.events.offsets_ns.known.any()
    assert [g.members for g in one.events.groups] == [(0, 1)]
