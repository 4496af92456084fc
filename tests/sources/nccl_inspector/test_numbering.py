"""Records paired by number: what every rank has, what is missing where, messages, and what dumps state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commcanary.errors import InputRefusal
from commcanary.sources.nccl_inspector.importer import import_nccl_inspector

from ..imported import account, rows
from .files import SIZE, WORLD, collective, durations, head, job, marker, message, written

if TYPE_CHECKING:
    from pathlib import Path


def test_ranks_that_recorded_different_subsets_are_paired_by_number(tmp_path: Path) -> None:
    """Rank 3 lost 30 of 100 records: the other 70 are paired with their own numbers, and the 30 are named."""
    whole = [collective(n, size=8192 + n, us=1000 + n) for n in range(100)]
    lossy = [collective(n, size=8192 + n, us=2000 + n) for n in range(100) if not 20 <= n < 50]
    done = import_nccl_inspector(job(tmp_path, whole, whole, whole, lossy))
    kept = [n for n in range(100) if not 20 <= n < 50]
    assert rows(done.trace) == [("all_reduce", 8192 + n) for n in kept]
    expected = [{"0": 1000 + n, "1": 1000 + n, "2": 1000 + n, "3": 2000 + n} for n in kept]
    assert durations(done.trace) == expected
    why = "too small, overwritten in the ring, or not timed on the GPU"
    assert list(done.counts) == [
        f"rank 3: no record of 30 of 100 x AllReduce: communicator {WORLD}: coll_sn 20 to 49: {why}",
        f"left out: 30 x AllReduce on communicator {WORLD} that not every rank recorded: coll_sn 20 to 49",
    ]
    assert account(done.trace) == {
        **{(rank, "Inspector record"): (100, 70, 30, 0, 0) for rank in (0, 1, 2)},
        (3, "Inspector record"): (70, 70, 0, 0, 0),
        (3, "AllReduce without a record"): (30, 0, 0, 0, 30),
    }


def test_numbers_are_of_one_operation_each(tmp_path: Path) -> None:
    """NCCL counts every operation of a communicator by itself, so that equal numbers are no equal calls."""
    one = [collective(0, "AllReduce", 10), collective(0, "AllGather", 20), collective(1, "AllReduce", 30)]
    other = [one[1], one[0], one[2]]  # kernels of one launch may end in any order
    done = import_nccl_inspector(job(tmp_path, one, other))
    assert rows(done.trace) == [("all_reduce", 10), ("all_gather", 40), ("all_reduce", 30)]
    assert done.counts == ()


def test_numbers_missing_on_every_rank_are_counted_from_0(tmp_path: Path) -> None:
    records = [collective(2), collective(5)]
    done = import_nccl_inspector(job(tmp_path, records, records))
    assert done.counts[0].startswith(
        f"ranks 0, 1: no record of 4 of 6 x AllReduce: communicator {WORLD}: coll_sn 0 to 1, "
    )
    assert "coll_sn 0 to 1, 3 to 4:" in done.counts[0]
    assert account(done.trace)[1, "AllReduce without a record"] == (4, 0, 0, 0, 4)


def test_a_size_that_differs_is_refused_with_both_lines(tmp_path: Path) -> None:
    one, other = [collective(0), collective(1, size=8192)], [collective(0), collective(1, size=9000)]
    told = (
        rf"'{WORLD}' call 1: rank 0 calls all_reduce of 8192 bytes Seq 1 \(line\[2\]\) but rank 1 .* 9000 bytes Seq 1"
    )
    with pytest.raises(InputRefusal, match=told):
        import_nccl_inspector(job(tmp_path, one, other))


def test_messages_are_paired_in_order(tmp_path: Path) -> None:
    """Each process numbers its own; the file lists them as they ended."""
    one = [message(2, "Send", 1, 20), message(1, "Send", 1, 10), message(3, "Recv", 1, 30)]
    other = [message(1, "Recv", 0, 10), message(3, "Send", 0, 30), message(2, "Recv", 0, 20)]
    done = import_nccl_inspector(job(tmp_path, one, other))
    found = [done.trace.events.signatures[i] for i in done.trace.events.signature]
    assert sorted((s.bytes, s.sender_rank, s.receiver_rank) for s in found) == [(10, 0, 1), (20, 0, 1), (30, 1, 0)]
    assert done.counts == ()


def test_messages_without_some_records_are_left_out(tmp_path: Path) -> None:
    one = [message(1, "Send", 1), message(3, "Send", 1), collective(0)]
    other = [message(1, "Recv", 0), message(2, "Recv", 0), message(3, "Recv", 0), collective(0)]
    done = import_nccl_inspector(job(tmp_path, one, other))
    assert rows(done.trace) == [("all_reduce", SIZE)]
    assert done.counts[0].startswith("rank 0: no record of 1 x Send and Recv: ")
    assert account(done.trace)[0, "Inspector record"] == (3, 1, 2, 0, 0)
    assert account(done.trace)[0, "Send and Recv without a record"] == (1, 0, 0, 0, 1)


def test_messages_of_one_file_keep_their_end(tmp_path: Path) -> None:
    records = [message(1, "Send", 1, 10), message(2, "Recv", 3, 20), message(3, "Send", 2, 30)]
    path = written(tmp_path / "a.log", [{**head(2, 4), **record} for record in records])
    done = import_nccl_inspector([path])
    assert rows(done.trace) == [("send", 10), ("recv", 20)]
    assert done.summary == "imported 2 collective events (skipped 0 control, 1 empty)"


def test_what_dumps_state_is_held_against_the_file(tmp_path: Path) -> None:
    lines = [{**head(0, 1), **marker(3, dropped=7)}, {**head(0, 1), **collective(7)}, {**head(0, 1), **collective(8)}]
    done = import_nccl_inspector([written(tmp_path / "a.log", lines)])
    assert done.counts[1] == (
        f"rank 0: its dumps state 3 collectives of communicator {WORLD} and 7 overwritten before; the file has 2"
    )
