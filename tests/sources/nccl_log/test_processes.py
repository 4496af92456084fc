"""Which ranks and communicators logs are of: creations, splits, addresses that are used again, what users declare."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commcanary.errors import InputRefusal, UsageError
from commcanary.sources.nccl_log.importer import import_nccl_log
from commcanary.sources.nccl_log.settings import NcclLogSettings

from ..imported import rows, signatures
from .logs import AT, WORLD, call, created, ended, job, said, split, written

if TYPE_CHECKING:
    from pathlib import Path


def test_ranks_are_those_in_the_world_s_communicator(tmp_path: Path) -> None:
    texts = [call(ranks=4)]
    files = job(tmp_path, *[texts] * 4)
    trace = import_nccl_log([files[i] for i in (2, 0, 3, 1)]).trace
    assert trace.header.system["profiled_ranks"] == [0, 1, 2, 3]
    assert trace.events.groups[0].members == (0, 1, 2, 3)
    assert trace.content_id == import_nccl_log(files).trace.content_id
    with pytest.raises(InputRefusal, match=r"2 of 4 ranks of process group .* have no profile: 1, 3"):
        import_nccl_log([files[2], files[0]])


def test_communicators_split_off(tmp_path: Path) -> None:
    """Lines of a split do not name it: parent, number and colour do. Ranks 1 and 3 are 1 and 0 of theirs."""
    texts = []
    for rank in range(4):
        seat = {0: 0, 2: 1, 3: 0, 1: 1}[rank]
        at = f"0x{rank + 1}00"
        texts.append(
            [
                split(seat, 2, at, color=rank % 2, what="Init START"),
                split(seat, 2, at, color=rank % 2),
                call("AllGather", at=at),
                call(ranks=4),
            ]
        )
    trace = import_nccl_log(job(tmp_path, *texts)).trace
    assert {group.name: group.members for group in trace.events.groups} == {
        WORLD: (0, 1, 2, 3),
        f"{WORLD}/1.0": (0, 2),
        f"{WORLD}/1.1": (3, 1),
    }


def test_a_pointer_that_is_used_again_is_another_communicator(tmp_path: Path) -> None:
    """After its end, or where the end was not logged, a communicator of other members lies at the same address."""
    for between in ([ended(0)], [ended(0, what="Abort")], []):
        texts = []
        for rank in (0, 1):
            again = [created(1 - rank, name="0xabc", what="Init START"), created(1 - rank, name="0xabc")]
            texts.append([call("Broadcast", 5), *between, *again, call("Broadcast", 6, root=0)])
        trace = import_nccl_log(job(tmp_path, *texts)).trace
        assert [group.name for group in trace.events.groups] == [WORLD, "0xabc"]
        assert [s.root_rank for s in signatures(trace)] == [0, 1]


def test_a_call_after_the_end_is_refused(tmp_path: Path) -> None:
    texts = [call(), ended(0), call()]
    with pytest.raises(InputRefusal, match=rf"line 5\.comm: is {AT}, and no line before says which communicator of 2"):
        import_nccl_log(job(tmp_path, texts, texts))


def test_calls_of_communicators_whose_creation_was_not_logged(tmp_path: Path) -> None:
    """NCCL_DEBUG_SUBSYS=COLL alone: members and ranks are nowhere, unless the user declares them."""
    files = [
        written(
            tmp_path / f"{rank}.log", [said(call(at=f"0x{rank + 1}0"), rank), said(call(at=f"0x{rank + 1}0"), rank)]
        )
        for rank in (0, 1)
    ]
    with pytest.raises(InputRefusal, match=r"NCCL_DEBUG_SUBSYS=INIT,COLL .* or declare --assume-default-group"):
        import_nccl_log(files)
    with pytest.raises(InputRefusal, match="nothing says this process' rank in it; state it with --rank"):
        import_nccl_log(files, NcclLogSettings(assume_default_group=True))
    done = import_nccl_log(files, NcclLogSettings(assume_default_group=True, ranks=(1, 0)))
    assert [group.members for group in done.trace.events.groups] == [(0, 1)]
    assert done.trace.header.assumptions == {"default_group": 1.0}
    assert done.trace.header.notes["files_of_ranks"] == {"0": "1.log", "1": "0.log"}
    with pytest.raises(InputRefusal, match="has 2 ranks, and this process is said to be rank 5"):
        import_nccl_log(files, NcclLogSettings(assume_default_group=True, ranks=(0, 5)))
    with pytest.raises(UsageError, match="--rank is given 1 times for 2 logs"):
        import_nccl_log(files, NcclLogSettings(assume_default_group=True, ranks=(0,)))
    with pytest.raises(UsageError, match="--rank changes nothing without --assume-default-group"):
        NcclLogSettings(ranks=(0, 1))
    with pytest.raises(UsageError, match="give each log a rank of its own"):
        NcclLogSettings(ranks=(1, 1), assume_default_group=True)


def test_old_logs_state_ranks_but_no_name(tmp_path: Path) -> None:
    """NCCL before 2.18 writes no commId."""
    files = [
        written(
            tmp_path / f"{rank}.log",
            [
                said(f"comm {AT} rank {rank} nranks 2 cudaDev 0 busId 1000 - Init COMPLETE", rank),
                said(call(), rank),
            ],
        )
        for rank in (0, 1)
    ]
    with pytest.raises(InputRefusal, match=r"NCCL 2\.18 on"):
        import_nccl_log(files)
    trace = import_nccl_log(files, NcclLogSettings(assume_default_group=True)).trace
    assert trace.header.system["profiled_ranks"] == [0, 1]


def test_an_address_with_another_number_of_ranks(tmp_path: Path) -> None:
    path = written(tmp_path / "a.log", [said(call()), said(call(ranks=4))])
    with pytest.raises(InputRefusal, match=r"line 2\.nranks: states 4 ranks of .* which has 2 in an earlier line"):
        import_nccl_log([path], NcclLogSettings(assume_default_group=True, ranks=(0,)))


def test_one_process_that_drives_two_gpus(tmp_path: Path) -> None:
    """One thread calls for both within a group: a line's device is the thread's, a communicator's its own."""
    lines = [said(created(rank, 2, f"0x{rank + 1}0", device=rank)) for rank in (0, 1)]
    lines += [said(call(at=f"0x{rank + 1}0", count=n)) for n in (1, 2) for rank in (1, 0)]
    done = import_nccl_log([written(tmp_path / "a.log", lines)])
    assert rows(done.trace) == [("all_reduce", 4), ("all_reduce", 8)]
    assert [row.seen for row in done.trace.header.coverage] == [2, 2]
    lines.append(said(call(at="0x99")))
    with pytest.raises(InputRefusal, match="communicators of GPUs 0, 1, and one whose creation it does not show"):
        import_nccl_log([written(tmp_path / "a.log", lines)])


def test_one_log_alone(tmp_path: Path) -> None:
    texts = [call("Send", 10, root=2, ranks=4), call(ranks=4), split(1, 2, "0x5"), call(at="0x5")]
    path = job(tmp_path, [], texts, [], [])[1]
    with pytest.raises(InputRefusal, match=rf"communicator {WORLD}/1\.0 of 2 ranks, of which 1 is in no file given"):
        import_nccl_log([path])
    done = import_nccl_log([path], NcclLogSettings(process_group=WORLD))
    assert rows(done.trace) == [("send", 40), ("all_reduce", 400)]
    assert done.trace.header.system["profiled_ranks"] == [1]
    kept = import_nccl_log([path], NcclLogSettings(on_error="skip"))
    assert kept.summary == "imported 2 collective events (skipped 0 control, 0 empty, 1 refused)"
