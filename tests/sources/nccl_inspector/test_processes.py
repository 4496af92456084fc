"""Which ranks and communicators files are of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commcanary.errors import InputRefusal
from commcanary.sources.nccl_inspector.importer import import_nccl_inspector
from commcanary.sources.nccl_inspector.settings import NcclInspectorSettings

from ..imported import account
from .files import WORLD, collective, durations, head, times, written

if TYPE_CHECKING:
    from pathlib import Path


def test_a_communicator_of_some_ranks(tmp_path: Path) -> None:
    """Ranks 1 and 3 of the job are ranks 1 and 0 of a communicator of two."""
    odd, files = "0x22", []
    for rank in range(4):
        lines = [{**head(rank, 4), **collective(0)}]
        if rank % 2:
            lines.append({**head({1: 1, 3: 0}[rank], 2, odd, pid=4000 + rank), **collective(0, "AllGather")})
        files.append(written(tmp_path / f"{rank}.log", lines))
    trace = import_nccl_inspector([files[i] for i in (2, 0, 3, 1)]).trace
    assert {group.name: group.members for group in trace.events.groups} == {WORLD: (0, 1, 2, 3), odd: (3, 1)}
    assert trace.header.system["profiled_ranks"] == [0, 1, 2, 3]
    assert durations(trace)[1] == {"1": 100, "3": 100}
    with pytest.raises(InputRefusal, match=r"1 of 4 ranks of process group .* have no profile: 3"):
        import_nccl_inspector(files[:3], NcclInspectorSettings(process_group=WORLD))
    with pytest.raises(InputRefusal, match=r"communicator 0x22 of 2 ranks, of which 1 is in no file given"):
        import_nccl_inspector(files[:2])


def test_no_communicator_seats_every_process(tmp_path: Path) -> None:
    files = [written(tmp_path / f"{n}.log", [{**head(n % 2, 2, f"0x{n // 2}", n), **collective(0)}]) for n in range(4)]
    trace = import_nccl_inspector(files).trace
    assert [group.members for group in trace.events.groups] == [(0, 1), (2, 3)]
    assert "numbered" not in trace.header.notes["ranks"]
    assert trace.header.notes["ranks"].startswith("no communicator seats every process")


def test_one_file_alone(tmp_path: Path) -> None:
    """Its rank and the size of its communicator are known; arrivals of the others are not."""
    path = written(tmp_path / "a.log", [{**head(2, 8), **collective(0, **times(0, 9))}])
    trace = import_nccl_inspector([path]).trace
    assert trace.events.groups[0].members == tuple(range(8))
    assert trace.header.system["profiled_ranks"] == [2]
    assert trace.header.unknown["rank_arrival_us"] == "one rank's file was given"
    assert durations(trace) == [{"2": 100}]


def test_one_file_of_several_communicators(tmp_path: Path) -> None:
    """Who the members of the smaller one are stands in the others' files alone."""
    lines = [{**head(2, 8, pid=1), **collective(0)}, {**head(0, 2, "0x5", pid=1, comm_name="dp"), **collective(0)}]
    path = written(tmp_path / "a.log", lines)
    with pytest.raises(InputRefusal, match=r"line 2\.header\.id: is on communicator 0x5 of 2 ranks, of which 1"):
        import_nccl_inspector([path])
    for wanted in ("0x5", "dp"):
        done = import_nccl_inspector([path], NcclInspectorSettings(process_group=wanted))
        assert [group.members for group in done.trace.events.groups] == [(0, 1)]
        assert account(done.trace) == {(0, "Inspector record"): (2, 1, 1, 0, 0)}
    kept = import_nccl_inspector([path], NcclInspectorSettings(on_error="skip"))
    assert kept.summary.endswith("(skipped 0 control, 0 empty, 1 refused)")


def test_one_process_that_drives_all_gpus(tmp_path: Path) -> None:
    lines = [{**head(rank, 4, pid=9), **collective(n, us=rank + 1)} for rank in (1, 0, 3, 2) for n in range(3)]
    lines.append({**head(0, 1, "0x6", pid=9), **collective(0)})
    path = written(tmp_path / "a.log", lines)
    with pytest.raises(InputRefusal, match=r"4 ranks of communicator .* no record says which .* one process a GPU"):
        import_nccl_inspector([path])
    done = import_nccl_inspector([path], NcclInspectorSettings(process_group=WORLD))
    assert durations(done.trace) == [{"0": 1, "1": 2, "2": 3, "3": 4}] * 3
    assert sum(row.seen for row in done.trace.header.coverage) == len(lines)
