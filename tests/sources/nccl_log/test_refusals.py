"""What the importer of debug logs refuses: torn lines, several processes, values that are none; and mutated logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commcanary.errors import InputRefusal
from commcanary.sources.nccl_log.importer import import_nccl_log
from commcanary.sources.nccl_log.settings import NcclLogSettings

from ..fuzzing import INPUTS, fates_of_damaged, refused
from ..imported import check_account
from .logs import AT, WORLD, call, created, ended, job, said, split, written

if TYPE_CHECKING:
    from pathlib import Path

SKIP = NcclLogSettings(on_error="skip")

BROKEN = [
    (call("PutSignal"), r"line 3: calls PutSignal, no collective or message"),
    (call(datatype=12), r"line 3\.datatype: is 12, whose size is unknown"),
    (call("Broadcast", root=2), r"line 3\.root: is 2 on a communicator of 2 ranks"),
    (call("Broadcast", root=-1), r"line 3\.root: is -1 on a communicator of 2 ranks"),
    (call("Send", root=7), r"line 3\.root: is 7 on a communicator of 2 ranks"),
    (call(count=10**18 * 9), r"line 3: moves 36000000000000000000 bytes"),
    (call(at="0x123"), r"line 3\.comm: is 0x123, and no line before says which communicator of 2 ranks"),
]


@pytest.mark.parametrize(("text", "told"), BROKEN)
def test_refused_or_skipped(tmp_path: Path, text: str, told: str) -> None:
    path = written(tmp_path / "log.node-0.4000", [said(created(0)), said(call()), said(text)])
    with pytest.raises(InputRefusal, match=told) as refusal:
        import_nccl_log([path])
    assert str(refusal.value).startswith(str(path))
    done = import_nccl_log([path], SKIP)
    assert (len(done.trace), done.refused) == (1, 1)


WHOLE = said(call())
TORN = [
    [WHOLE[:60]],
    [WHOLE[: WHOLE.index("sendbuff") + 12]],
    [WHOLE[:50] + said(call(), 1), WHOLE[50:]],
    [WHOLE[: WHOLE.index("count")] + said("Channel 00/0", 1), WHOLE[WHOLE.index("count") :]],
    [said("") + WHOLE],
    [WHOLE + WHOLE],
    [WHOLE.replace("count 100", "count -1")],
    [WHOLE.replace("opCount 0", "opCount x")],
    [WHOLE.replace("node-0:4000:4007", "node-0:4000")],
    [WHOLE.replace(" [0] ", " ")],
    [said(created(0))[:-9] + said(created(1), 1)],
    [said(ended(0)).replace("rank 0", "rank")],
]


@pytest.mark.parametrize("lines", TORN)
def test_torn_lines(tmp_path: Path, lines: list[str]) -> None:
    path = written(tmp_path / "log.node-0.4000", [said(created(0)), WHOLE, *lines])
    told = r"line \d: is no whole call: .*NCCL_DEBUG_FILE=log\.%h\.%p\); leave torn lines out with --on-error skip"
    with pytest.raises(InputRefusal, match=told):
        import_nccl_log([path])
    done = import_nccl_log([path], SKIP)
    torn = [row for row in done.trace.header.coverage if row.rule == "torn line"]
    assert [row.refused for row in torn] == [done.refused]
    assert done.refused >= 1
    assert len(done.trace) == 1


def test_a_log_that_was_cut(tmp_path: Path) -> None:
    """NCCL ends every line. A last one without its end is torn unless all that is read of it stands there."""
    path = tmp_path / "log.node-0.4000"
    whole = "".join(f"{line}\n" for line in (said(created(0)), WHOLE, WHOLE)).encode()
    outcomes = set()
    for end in range(len(whole) - len(WHOLE), len(whole)):
        path.write_bytes(whole[:end])
        outcomes.add(refused(lambda: import_nccl_log([path])))
    assert outcomes == {True, False}
    path.write_bytes(whole[: -len(" 0x55d0c00a0000") - 1])
    with pytest.raises(InputRefusal, match="line 3: is no whole call"):
        import_nccl_log([path])


@pytest.mark.parametrize("settings", [NcclLogSettings(), SKIP])
def test_several_processes_in_one_log(tmp_path: Path, settings: NcclLogSettings) -> None:
    """Their lines may be mixed anywhere, so that skipping what is torn would not help."""
    path = written(tmp_path / "all.log", [said(created(0)), said(created(1), 1), said(call()), said(call(), 1)])
    told = (
        r"all\.log: line 2: is of process 4001 on node-0, the lines before it of process 4000 on node-0: several "
        r"processes wrote one log; log each process to a file of its own: NCCL_DEBUG_FILE=log\.%h\.%p"
    )
    with pytest.raises(InputRefusal, match=told):
        import_nccl_log([path], settings)


def test_logs_that_contradict_each_other(tmp_path: Path) -> None:
    one, _ = job(tmp_path, [call()], [call()])
    same = written(tmp_path / "same", [said(created(0), 5), said(call(), 5)])
    with pytest.raises(InputRefusal, match=rf"communicator {WORLD}: seats 2 processes on rank 0"):
        import_nccl_log([one, same])
    twice = written(
        tmp_path / "twice", [said(created(0)), said(call()), said(created(1, at="0x7")), said(call(at="0x7"))]
    )
    with pytest.raises(InputRefusal, match="seats this process on rank 0 of 2 and on rank 1 of 2"):
        import_nccl_log([twice])
    outside = written(tmp_path / "outside", [said(created(2)), said(call())])
    with pytest.raises(InputRefusal, match=f"communicator {AT}: has 2 ranks, and this process is said to be rank 2"):
        import_nccl_log([outside])


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([said("Bootstrap: Using eth0")], "holds no line of a call; log with NCCL_DEBUG=INFO and"),
        ([said(created(0)), said(call(count=0))], "nothing to import: no call that moves data but 1 empty"),
    ],
)
def test_nothing_to_import(tmp_path: Path, lines: list[str], told: str) -> None:
    with pytest.raises(InputRefusal, match=told):
        import_nccl_log([written(tmp_path / "a.log", lines)])
    with pytest.raises(InputRefusal, match="no log is given"):
        import_nccl_log([])


def test_a_line_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commcanary.sources.nccl_log.lines.LONGEST_LINE", 100)
    monkeypatch.setattr("commcanary.sources.nccl_log.lines.SLICE_BYTES", 64)
    with pytest.raises(InputRefusal, match="line 1: has more than 100 bytes"):
        import_nccl_log([written(tmp_path / "a.log", [said(created(0)), said(call())])])


def test_slices_end_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = job(tmp_path, *[[call(count=n) for n in range(1, 40)]] * 2)
    whole = import_nccl_log(files).trace.content_id
    for size in (100, 333, 1000):
        monkeypatch.setattr("commcanary.sources.nccl_log.lines.SLICE_BYTES", size)
        assert import_nccl_log(files).trace.content_id == whole


@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_mutated_logs(tmp_path: Path, on_error: Any) -> None:
    """Refused in one line or read, whatever is damaged; what is read has an account that closes."""
    settings = NcclLogSettings(on_error=on_error)
    texts = []
    for rank in (0, 1):
        own = [call(count=n) for n in (1, 2, 3)]
        own += [split(rank, 2, "0x77"), call("AllGather", at="0x77"), ended(rank, at="0x77")]
        own += [call("Recv" if rank else "Send", 9, root=1 - rank), call("Broadcast", root=1)]
        texts.append(own)
    one, other = job(tmp_path, *texts)
    fates = fates_of_damaged(
        one, one.read_bytes(), lambda _: check_account(import_nccl_log([one, other], settings).trace)
    )
    assert min(fates.values()) > INPUTS // 100
