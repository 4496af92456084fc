"""Times before lines: what they give where they are fine enough, and why others are not used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commcanary.errors import InputRefusal
from commcanary.sources.nccl_log.importer import import_nccl_log
from commcanary.sources.nccl_log.settings import NcclLogSettings
from commcanary.sources.nccl_log.timestamps import stamp_of

from .logs import call, created, said, written

if TYPE_CHECKING:
    from pathlib import Path


SHARED = NcclLogSettings(assume_shared_clock=True)


STAMPS = ["[2026-11-02 09:00:00.000100] ", "[2026-11-02 09:00:00.000350] ", "[2026-11-02 09:00:01.000350] "]


def timed(folder: Path, *stamps: list[str]) -> list[Path]:
    return [
        written(folder / f"{rank}.log", [said(created(rank), rank), *(said(call(), rank, stamp) for stamp in of)])
        for rank, of in enumerate(stamps)
    ]


def test_times_are_those_that_the_format_put_there(tmp_path: Path) -> None:
    later = [stamp.replace("350]", "400]") for stamp in STAMPS]
    trace = import_nccl_log(timed(tmp_path, STAMPS, later)).trace
    assert trace.start_ns.tolist() == [0, 250_000, 1_000_250_000]
    assert not trace.events.offsets_ns.known.any()
    shared = import_nccl_log(timed(tmp_path, STAMPS, later), SHARED).trace
    assert [shared.events.offsets_ns.row(i) for i in range(3)] == [[0, 0], [0, 50_000], [0, 50_000]]
    assert {"observed_exposed_us", "compute_overlap_us"} <= shared.header.unknown.keys()


@pytest.mark.parametrize(
    ("stamps", "why"),
    [
        (["", "", ""], "lines carry no time; NCCL_DEBUG_TIMESTAMP_LEVELS=INFO"),
        ([STAMPS[0], "", STAMPS[2]], "lines carry no time"),
        (["[2026-11-02 09:00:00] "] * 3, "times have 0 digits of a second, too coarse"),
        (["[2026-11-02 09:00:00.123] "] * 3, "times have 3 digits of a second, too coarse"),
        (STAMPS[::-1], "times go backwards at line 3 of 0.log"),
        (["09:00:00.000100 "] * 3, "lines carry no time"),
    ],
)
def test_times_that_are_none(tmp_path: Path, stamps: list[str], why: str) -> None:
    """Coarse times would make gaps of 0 and whole seconds out of microseconds."""
    trace = import_nccl_log(timed(tmp_path, stamps, STAMPS)).trace
    assert trace.header.unknown["start_us"].startswith(why)
    assert (trace.start_ns == -1).all()
    assert not trace.events.gaps_known
    with pytest.raises(InputRefusal, match=r"time: is not known: .*or leave the clock option out"):
        import_nccl_log(timed(tmp_path, stamps, STAMPS), SHARED)


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (b"[1970-01-02 00:00:01.5]", (86_401_500_000_000, 1)),
        (b"rank 3: [1970-01-01 00:01:00.000000123]", (60_000_000_123, 9)),
        (b"1970-01-01T01:00:00", (3_600_000_000_000, 0)),
        (b"[1970-13-01 00:00:00.000000]", None),
        (b"[1970-01-01 25:00:00.000000]", None),
        (b"[1969-01-01 00:00:00.000000]", None),
        (b"noon", None),
    ],
)
def test_stamps(before: bytes, expected: tuple[int, int] | None) -> None:
    assert stamp_of(before) == expected
