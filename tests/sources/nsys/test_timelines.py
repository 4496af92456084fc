"""Timelines of exports, against hand calculation and a plain reading of the tables."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from commcanary.errors import InputRefusal
from commcanary.sources.kineto.meetings import meetings_of
from commcanary.sources.nsys.settings import NsysSettings
from commcanary.sources.nsys.timelines import is_export, read_nsys_timelines
from commcanary.timeline.kernels import Lane
from commcanary.timeline.measure import OverlapSettings, measure
from commcanary.timeline.overlap import Overlap
from commcanary.timeline.windows import WindowSettings

from .exports import changed, two_ranks


def measured(path: Path, settings: OverlapSettings | None = None) -> Overlap:
    found = read_nsys_timelines([path], NsysSettings())
    timelines = [read.timeline for read in found.reads]
    return measure(timelines, meetings_of(found.reads, found.clock), settings or OverlapSettings(), found.files)


def test_overlap_of_the_example(tmp_path: Path) -> None:
    """A step communicates 20 + 40 + 20 us; 30 us of it beside compute on rank 0, 20 us on rank 1."""
    overlap = measured(two_ranks(tmp_path / "job.sqlite"))
    rows = [(row.rank, row.device, row.main.both_ns, row.main.communication_only_ns) for row in overlap.devices]
    assert rows == [(0, "0", 90_000, 150_000), (1, "1", 60_000, 180_000)]
    kinds = {kind.name for row in overlap.devices for kind in row.kinds}
    assert kinds == {"all_gather", "all_reduce", "all_to_all"}
    assert {(row.kind, row.calls, row.kernels, row.open_because) for row in overlap.payload} == {
        (kind, 6, 6, ()) for kind in kinds
    }


def test_the_late_rank_is_found_on_the_sessions_clock(tmp_path: Path) -> None:
    """Rank 1 arrives 10 us late at all nine collectives."""
    late = measured(two_ranks(tmp_path / "job.sqlite")).late_ranks
    assert late is not None
    assert {(row.kind, row.site, row.rank, row.calls, row.last, row.median_ns) for row in late.rows if row.last} == {
        ("all_gather", "forward", 1, 3, 3, 10_000),
        ("all_reduce", "backward", 1, 3, 3, 10_000),
        ("all_to_all", "unknown", 1, 3, 3, 10_000),
    }


def test_trim_is_in_seconds_of_the_session(tmp_path: Path) -> None:
    """The second step lies between 2 and 3 ms of the session, of both ranks."""
    overlap = measured(two_ranks(tmp_path / "job.sqlite"), OverlapSettings(windows=WindowSettings((0.002, 0.003))))
    assert [row.main.both_ns for row in overlap.devices] == [30_000, 20_000]


def test_sites_and_phases_stand_without_payloads(tmp_path: Path) -> None:
    path = two_ranks(tmp_path / "job.sqlite", blobs=False)
    found = read_nsys_timelines([path], NsysSettings())
    assert [read.timeline.rank for read in found.reads] == [None, None]
    assert all("nsys export --type=sqlite --include-blobs=true" in read.timeline.no_calls for read in found.reads)
    timeline = found.reads[0].timeline
    kernels = timeline.devices[0].kernels.on(Lane.COMMUNICATION)
    shown = [
        (
            timeline.kinds[kind],
            timeline.sites[site] if site >= 0 else None,
            timeline.phases[phase] if phase >= 0 else None,
        )
        for kind, site, phase in zip(kernels.kind[:3], kernels.site[:3], kernels.phase[:3], strict=True)
    ]
    assert shown == [
        ("all_gather", "forward", "forward"),
        ("all_reduce", "backward", "backward"),
        ("point_to_point", None, None),  # without sizes and peers the group is messages
    ]


def test_the_frameworks_mark_names_what_messages_are(tmp_path: Path) -> None:
    path = changed(
        two_ranks(tmp_path / "job.sqlite", blobs=False),
        "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) SELECT start - 1, end + 50000, 59, "
        "'nccl:all_to_all, op_id = 5', globalTid, 0 FROM NVTX_EVENTS WHERE textId = "
        "(SELECT id FROM StringIds WHERE value = 'ncclGroupStart')",
    )
    kinds = {kind for read in read_nsys_timelines([path], NsysSettings()).reads for kind in read.timeline.kinds}
    assert kinds == {"all_gather", "all_reduce", "all_to_all"}


def test_copies_are_neither(tmp_path: Path) -> None:
    path = changed(
        two_ranks(tmp_path / "job.sqlite"),
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, streamId, bytes, copyKind, globalPid) "
        "SELECT start, end, deviceId, 9, 1, 1, globalPid FROM CUPTI_ACTIVITY_KIND_KERNEL",
    )
    assert [row.main.both_ns for row in measured(path).devices] == [90_000, 60_000]


def test_nothing_ran(tmp_path: Path) -> None:
    path = changed(two_ranks(tmp_path / "job.sqlite"), "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL")
    with pytest.raises(InputRefusal, match=r"job\.sqlite: .*lists no kernel"):
        read_nsys_timelines([path], NsysSettings())


def test_exports_are_told_by_their_bytes(tmp_path: Path) -> None:
    assert is_export(two_ranks(tmp_path / "job.db"))
    (tmp_path / "x.sqlite").write_text("{}")
    assert not is_export(tmp_path / "x.sqlite")
    assert not is_export(tmp_path / "absent.sqlite")


@pytest.mark.parametrize("name", ["h100_2gpu_1s", "healthy_1pct"])
def test_real_exports_against_their_tables(shared_traces: Path, name: str) -> None:
    path = shared_traces / "nsys" / f"{name}.sqlite"
    overlap = measured(path)
    with closing(sqlite3.connect(path)) as connection:
        for row in overlap.devices:
            intervals = connection.execute(
                "SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE deviceId = ? ORDER BY start", (row.device,)
            ).fetchall()
            busy, reached = 0, 0
            for start, end in intervals:
                busy += max(0, end - max(start, reached))
                reached = max(reached, end)
            assert row.main.compute_only_ns == busy
            assert row.main.both_ns == row.main.communication_only_ns == 0
