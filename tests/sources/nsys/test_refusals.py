"""Exports that are refused, each in one line that names the place and the remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from commcanary.errors import InputRefusal, UsageError
from commcanary.sources.nsys.importer import import_nsys
from commcanary.sources.nsys.settings import NsysSettings

from .exports import changed, two_ranks

AGAIN = "nsys export --type=sqlite --include-blobs=true --force-overwrite=true -o job.sqlite job.nsys-rep"
ENTRY = "NVTX_PAYLOAD_SCHEMA_ENTRIES"
BLOB = "UPDATE NVTX_EVENTS SET binaryData = {} WHERE rowid = (SELECT min(rowid) FROM NVTX_EVENTS WHERE start = 1100000)"

REFUSED = [
    (
        "no blobs",
        ["UPDATE NVTX_EVENTS SET binaryData = NULL"],
        ["36 ranges of NCCL operations", "layouts are there", AGAIN],
    ),
    ("no blob column", ["ALTER TABLE NVTX_EVENTS DROP COLUMN binaryData"], ["message sizes are unknown", AGAIN]),
    ("no ranges", ["DROP TABLE NVTX_EVENTS"], ["no table NVTX_EVENTS", "30 kernels of which 18 communicate"]),
    (
        "no NCCL ranges",
        ["DELETE FROM NVTX_EVENTS WHERE domainId = 1"],
        ["NCCL described its payloads, no NVTX range", "--trace=cuda,nvtx"],
    ),
    ("a column is gone", ["ALTER TABLE NVTX_EVENTS DROP COLUMN globalTid"], ["NVTX_EVENTS.globalTid", "missing"]),
    ("no layouts", [f"DROP TABLE {ENTRY}"], ["NVTX_EVENTS[", "binaryData", "does not describe"]),
    (
        "two descriptions of one layout",
        [f"UPDATE {ENTRY} SET offset = 12 WHERE rowid = (SELECT max(rowid) FROM {ENTRY} WHERE name LIKE 'Message%')"],
        [ENTRY, "describe one layout differently"],
    ),
    ("a short blob", [BLOB.format("x'0102'")], ["binaryData", "2 bytes", "32"]),
    ("a blob without its end", [BLOB.format("substr(binaryData, 1, 40)")], ["binaryData", "16 bytes of payload"]),
    ("a time as text", ["UPDATE NVTX_EVENTS SET start = 'soon' WHERE domainId = 1"], ["NVTX_EVENTS[", "'soon'"]),
    ("a fraction", ["UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 1.5"], ["KERNEL[2].start", "1.5", "whole number"]),
    (
        "a kernel that ends before it starts",
        ["UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start - 1 WHERE rowid = 3"],
        ["KIND_KERNEL", "before its start"],
    ),
    (
        "a range that ends before it starts",
        ["UPDATE NVTX_EVENTS SET end = start - 1 WHERE domainId = 1"],
        ["NVTX_EVENTS["],
    ),
    (
        "no creation",
        ["DELETE FROM NVTX_EVENTS WHERE start = 0"],
        ["0x5eed0000cafe0001", "creation was not captured", "--assume-all-ranks-captured"],
    ),
    (
        "two devices of one process",
        ["UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = 5 WHERE rowid = 2"],
        ["process 111", "[0, 5]", "one process a device"],
    ),
    (
        "ranks that call differently",
        [
            "UPDATE NVTX_EVENTS SET binaryData = (SELECT binaryData FROM NVTX_EVENTS WHERE start = 1310000) "
            "WHERE start = 1110000"
        ],
        ["call 0", "rank 1", "(NVTX_EVENTS["],
    ),
    ("no strings", ["DROP TABLE StringIds"], ["nothing to import"]),
]


@pytest.mark.parametrize(("statements", "told"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_refused(tmp_path: Path, statements: list[str], told: list[str]) -> None:
    path = changed(two_ranks(tmp_path / "job.sqlite"), *statements)
    with pytest.raises(InputRefusal) as refused:
        import_nsys([path])
    said = str(refused.value)
    assert "job.sqlite" in said
    assert "\n" not in said
    for part in told:
        assert part in said


def test_layout_before_2_25_names_no_communicator(tmp_path: Path) -> None:
    path = two_ranks(tmp_path / "job.sqlite", version="2.21")
    with pytest.raises(InputRefusal, match=r"names no communicator .*--assume-default-group"):
        import_nsys([path])


def test_declared_members(tmp_path: Path) -> None:
    """Without creation nothing numbers the ranks either: they follow the devices, and the header says so."""
    path = changed(two_ranks(tmp_path / "job.sqlite"), "DELETE FROM NVTX_EVENTS WHERE start = 0")
    trace = import_nsys([path], NsysSettings(assume_all_ranks_captured=True)).trace
    assert [g.members for g in trace.events.groups] == [(0, 1), (1, 0)]  # messages: who is who was not captured
    assert trace.header.assumptions == {"all_ranks_captured": 1.0}
    assert "in order of export and device" in trace.header.notes["ranks"]


def test_skipped_ranges_are_counted(tmp_path: Path) -> None:
    path = changed(
        two_ranks(tmp_path / "job.sqlite"),
        *(BLOB.replace("1100000", t).format("x'01'") for t in ("1100000", "1110000")),
    )
    done = import_nsys([path], NsysSettings(on_error="skip"))
    assert done.summary == "imported 8 collective events (skipped 0 control, 0 empty, 2 refused)"
    assert [c.refused for c in done.trace.header.coverage if c.refused] == [1, 1]


@pytest.mark.parametrize(
    "content", [b"SQLite format 3\x00", b"SQLite format 3\x00" + b"\x10\x00" * 300, b"QDSTRM" * 40]
)
def test_no_database(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "report.nsys-rep"
    path.write_bytes(content)
    with pytest.raises(InputRefusal, match=r"report\.nsys-rep: .*nsys export .* -o report\.sqlite report\.nsys-rep"):
        import_nsys([path])


@pytest.mark.parametrize("window", [(2.0, 1.0), (-1.0, 1.0), (1.0, 1.0)])
def test_impossible_window(window: tuple[float, float]) -> None:
    with pytest.raises(UsageError, match="--trim"):
        NsysSettings(trim_s=window)
