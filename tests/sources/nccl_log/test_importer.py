"""Debug logs of several ranks: order, sizes, communicators and their pointers, divergence, times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commcanary.errors import InputRefusal, UsageError
from commcanary.sources.nccl_log.importer import import_nccl_log
from commcanary.sources.nccl_log.settings import NcclLogSettings
from commcanary.sources.nccl_log.timestamps import stamp_of

from .logs import AT, WORLD, call, created, ended, job, said, split, written

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.artifacts.events import Signature
    from commcanary.artifacts.trace import Trace

SHARED = NcclLogSettings(assume_shared_clock=True)


def signatures(trace: Trace) -> list[Signature]:
    return [trace.events.signatures[i] for i in trace.events.signature]


def rows(trace: Trace) -> list[tuple[str, int]]:
    return [(s.op, s.bytes) for s in signatures(trace)]


SIZES = [
    ("AllReduce", "all_reduce", 400, 100, 100),
    ("AllGather", "all_gather", 1600, 100, 400),
    ("ReduceScatter", "reduce_scatter", 1600, 400, 100),
    ("Broadcast", "broadcast", 400, 100, 100),
    ("Reduce", "reduce", 400, 100, 100),
    ("AlltoAll", "all_to_all", 1600, 400, 400),
    ("Gather", "gather", 1600, None, None),
    ("Scatter", "scatter", 1600, None, None),
]
"""Of 100 floats on 4 ranks: bytes of the larger side, elements in and out; those of gathers differ by rank."""


@pytest.mark.parametrize(("name", "op", "size", "into", "out"), SIZES)
def test_sizes(tmp_path: Path, name: str, op: str, size: int, into: int | None, out: int | None) -> None:
    (found,) = signatures(import_nccl_log(job(tmp_path, *[[call(name, ranks=4)]] * 4)).trace)
    assert (found.op, found.bytes, found.in_elements, found.out_elements) == (op, size, into, out)
    assert found.dtype == "float32"


@pytest.mark.parametrize(
    ("number", "name", "size"),
    [
        (0, "int8", 1),
        (1, "uint8", 1),
        (2, "int32", 4),
        (3, "uint32", 4),
        (4, "int64", 8),
        (5, "uint64", 8),
        (6, "float16", 2),
        (7, "float32", 4),
        (8, "float64", 8),
        (9, "bfloat16", 2),
        (10, "float8_e4m3fn", 1),
        (11, "float8_e5m2", 1),
    ],
)
def test_element_types(tmp_path: Path, number: int, name: str, size: int) -> None:
    (found,) = signatures(import_nccl_log(job(tmp_path, *[[call(datatype=number)]] * 2)).trace)
    assert (found.dtype, found.bytes) == (name, 100 * size)


def test_operators_and_roots(tmp_path: Path) -> None:
    """Fields that an operation does not use are written all the same: 0 there is neither a root nor a sum."""
    texts = [call(operator=n) for n in (0, 1, 2, 3, 4)]
    texts += [call("AllGather"), call("Broadcast", root=1), call("Reduce", operator=2, root=1)]
    found = signatures(import_nccl_log(job(tmp_path, texts, texts)).trace)
    assert [s.reduction_op for s in found] == ["sum", "prod", "max", "min", "avg", None, None, "max"]
    assert [s.root_rank for s in found] == [None] * 6 + [1, 1]


def test_an_operator_of_the_job_is_unknown_and_named(tmp_path: Path) -> None:
    texts = [call(operator=5), call(operator=5), call("AllGather", operator=5)]
    done = import_nccl_log(job(tmp_path, texts, texts))
    assert [s.reduction_op for s in signatures(done.trace)] == [None] * 3
    assert done.counts == (
        "rank 0: 2 calls reduce with an operator of the job's own (op 5)",
        "rank 1: 2 calls reduce with an operator of the job's own (op 5)",
    )
    assert "reduction_op" in done.trace.header.unknown


def test_op_count_orders_nothing(tmp_path: Path) -> None:
    """On one node it is 0 for every call since NCCL 2.27; before, it is hexadecimal."""
    one = [call(count=n, op_count="0") for n in (3, 1, 2)]
    other = [call(count=n, op_count=c) for n, c in ((3, "ff"), (1, "a"), (2, "100"))]
    assert rows(import_nccl_log(job(tmp_path, one, other)).trace) == [
        ("all_reduce", 12),
        ("all_reduce", 4),
        ("all_reduce", 8),
    ]


def test_the_first_divergence_is_named(tmp_path: Path) -> None:
    """Rank 1 has one broadcast more: lines are numbered from 1, and two lines stand before the first call."""
    one = [call(count=n) for n in range(1, 9)]
    other = [*one[:5], call("Broadcast", count=77), *one[5:]]
    told = (
        rf"process group '{WORLD}' call 5: rank 0 calls all_reduce of 24 bytes \(line\[8\]\) "
        rf"but rank 1 calls broadcast of 308 bytes \(line\[8\]\) \(8 and 9 calls\)"
    )
    with pytest.raises(InputRefusal, match=told) as refusal:
        import_nccl_log(job(tmp_path, one, other))
    assert "log.node-0.4001" in str(refusal.value)
    with pytest.raises(InputRefusal, match=r"call 7: rank 0 calls .* but rank 1 has no such call .*8 and 7 calls"):
        import_nccl_log(job(tmp_path, one, one[:7]))


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


def test_messages(tmp_path: Path) -> None:
    one = [call("Send", 10, root=1), call("Recv", 20, root=1), call("Send", 1, root=0), call(count=0)]
    other = [call("Recv", 10, root=0), call("Send", 20, root=0), call(count=0)]
    done = import_nccl_log(job(tmp_path, one, other))
    found = [(s.op, s.bytes, s.sender_rank, s.receiver_rank) for s in signatures(done.trace)]
    assert sorted(found) == [("point_to_point", 40, 0, 1), ("point_to_point", 80, 1, 0)]
    assert done.summary == "imported 2 collective events (skipped 0 control, 3 empty)"


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


def test_lines_of_launchers_and_of_others_change_nothing(tmp_path: Path) -> None:
    texts = [call(), call("AllGather")]
    plain = import_nccl_log(job(tmp_path, texts, texts)).trace
    noisy = []
    for rank in (0, 1):
        lines = [
            "NCCL version 2.30.7+cuda13.0",
            said("ncclCommInitRank comm registered NVLS sendbuff 0x1, recvbuff 0x2, sendbuff size 3", rank),
            said("Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM", rank),
            f"(Worker pid=9, ip=10.0.0.1) {said(created(rank), rank)}",
            "",
            *(f"[rank{rank}]: {said(text, rank)}\r" for text in texts),
            "node-0:4000:4000 [0] misc/socket.cc:58 NCCL WARN socketProgress: Connection closed",
        ]
        noisy.append(written(tmp_path / f"noisy{rank}.log", lines))
    trace = import_nccl_log(noisy).trace
    assert rows(trace) == rows(plain)
    assert trace.header.system["nccl_version"] == "2.30.7+cuda13.0"
