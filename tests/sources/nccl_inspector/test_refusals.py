"""What the Inspector's importer refuses: the place, the value and the remedy, and what skipping counts."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from commcanary.errors import InputRefusal
from commcanary.sources.nccl_inspector.importer import import_nccl_inspector
from commcanary.sources.nccl_inspector.settings import NcclInspectorSettings

from ..fuzzing import INPUTS, fates_of_damaged
from ..imported import check_account
from .files import WORLD, collective, head, job, marker, message, times, written

SKIP = NcclInspectorSettings(on_error="skip")
GOOD = {**head(0), **collective(0)}


def changed(block: str, **values: Any) -> dict[str, Any]:
    """A good record with some fields of a block changed; None removes one."""
    base = {**head(0), **(message(1, "Send", 1) if block == "p2p_perf" else collective(1))}
    base[block] = {key: value for key, value in {**base[block], **values}.items() if value is not None}
    return base


BROKEN: list[tuple[dict[str, Any], str]] = [
    (changed("coll_perf", coll="AllGatherV"), r"line 2\.coll_perf\.coll: is 'AllGatherV', and how its size counts"),
    (changed("coll_perf", coll="All2All"), "All2All"),
    (changed("coll_perf", coll=None), "line 2.coll_perf: Object missing required field `coll`"),
    (changed("coll_perf", coll_sn=-1), r"line 2\.coll_perf\.coll_sn: Expected `int` >= 0"),
    (changed("coll_perf", coll_sn=2**50), r"line 2\.coll_perf\.coll_sn"),
    (changed("coll_perf", coll_sn="1"), r"line 2\.coll_perf\.coll_sn: Expected `int`, got `str`"),
    (
        changed("coll_perf", coll_sn=0),
        r"line 2\.coll_perf\.coll_sn: is 0 for AllReduce .*, as in line 1; give one process",
    ),
    (changed("coll_perf", coll_msg_size_bytes=-5), r"line 2\.coll_perf\.coll_msg_size_bytes"),
    (changed("coll_perf", coll_msg_size_bytes=2**63), r"line 2\.coll_perf\.coll_msg_size_bytes"),
    (changed("coll_perf", coll="AllGather", coll_msg_size_bytes=2**62), "makes 9223372036854775808 bytes of 2 ranks"),
    (changed("coll_perf", coll_exec_time_us=-3), r"line 2\.coll_perf\.coll_exec_time_us"),
    (changed("coll_perf", coll_exec_time_us=10**15), r"line 2\.coll_perf\.coll_exec_time_us"),
    (changed("coll_perf", event_trace_ts={"coll_start_ts": -1}), r"event_trace_ts\.coll_start_ts"),
    (changed("coll_perf", event_trace_ts={"kernel_events": [{"kernel_stop_ts": 1e300}]}), "kernel_stop_ts"),
    (changed("p2p_perf", p2p="SendRecv"), r"line 2\.p2p_perf\.p2p: is 'SendRecv'"),
    (changed("p2p_perf", p2p_peer=2), r"line 2\.p2p_perf\.p2p_peer: is 2 on a communicator of 2 ranks"),
    (changed("p2p_perf", p2p_peer=None), "missing required field `p2p_peer`"),
    (changed("header", rank=2), r"line 2\.header: is rank 2 of 2 in communicator"),
    (changed("header", rank=-1), r"line 2\.header\.rank"),
    (
        changed("header", n_ranks=3),
        rf"line 2\.header: is of 3 ranks in communicator {WORLD}, which has 2 in an earlier",
    ),
    (changed("header", n_ranks=0), r"line 2\.header\.n_ranks"),
    (changed("header", id=""), r"line 2\.header\.id"),
    (changed("metadata", pid=77), r"line 2\.metadata: is of process 77 on node-0, the file before it of process 4000"),
    (changed("metadata", hostname="node-9"), r"give each process' file by itself, as the plugin writes them"),
    (collective(1), r"line 2\.header: is missing, and no dump_stats line before states it"),
    (head(0), "line 2: has neither coll_perf nor p2p_perf"),
]


@pytest.mark.parametrize(("record", "told"), BROKEN)
def test_refused(tmp_path: Path, record: dict[str, Any], told: str) -> None:
    path = written(tmp_path / "node-0-pid4000.log", [GOOD, record])
    with pytest.raises(InputRefusal, match=told) as refusal:
        import_nccl_inspector([path])
    assert str(refusal.value).startswith(str(path))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(("record", "told"), [pair for pair in BROKEN if "as in line 1" not in pair[1]])
def test_skipped_and_counted(tmp_path: Path, record: dict[str, Any], told: str) -> None:
    path = written(tmp_path / "node-0-pid4000.log", [GOOD, record])
    done = import_nccl_inspector([path], SKIP)
    assert (len(done.trace), done.refused) == (1, 1), told
    refused_rows = [row for row in done.trace.header.coverage if row.refused]
    assert [(row.seen, row.refused) for row in refused_rows] == [(1, 1)]
    assert refused_rows[0].reason


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b'{"header":{"id"', "line 2: the JSON text ends too early"),
        (b'{"header":}', r"line 2 column \d+: not valid JSON"),
        (b"\xff\xfe", "line 2 column 1: not valid JSON"),
        (b"[]", "line 2: Expected `object`, got `array`"),
        (b"NCCL INFO text", "line 2 column 1: not valid JSON"),
    ],
)
def test_torn_lines(tmp_path: Path, text: bytes, told: str) -> None:
    path = written(tmp_path / "node-0-pid4000.log", [GOOD])
    path.write_bytes(path.read_bytes() + text)
    with pytest.raises(InputRefusal, match=told):
        import_nccl_inspector([path])
    done = import_nccl_inspector([path], SKIP)
    assert (len(done.trace), done.refused) == (1, 1)


def test_pretty_printed_records_are_no_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text('{\n  "header": {}\n}\n')
    with pytest.raises(InputRefusal, match=r"line 1: .*the plugin writes one JSON object a line"):
        import_nccl_inspector([path])


def test_a_line_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commcanary.sources.nccl_inspector.records.LONGEST_LINE", 100)
    monkeypatch.setattr("commcanary.sources.nccl_inspector.records.SLICE_BYTES", 64)
    with pytest.raises(InputRefusal, match="holds a line of more than 100 bytes"):
        import_nccl_inspector([written(tmp_path / "a.log", [GOOD])])


def test_files_that_contradict_each_other(tmp_path: Path) -> None:
    one, other = job(tmp_path, [collective(0)], [collective(0)])
    again = tmp_path / "again.log"
    shutil.copy(one, again)
    with pytest.raises(InputRefusal, match="holds the same bytes as"):
        import_nccl_inspector([one, again])
    written(again, [{**head(0, pid=9), **collective(0)}])
    with pytest.raises(
        InputRefusal, match=rf"communicator {WORLD}: seats 2 processes on rank 0; give the files of one"
    ):
        import_nccl_inspector([one, other, again])
    written(again, [{**head(2, 3), **collective(0)}])
    with pytest.raises(InputRefusal, match=rf"communicator {WORLD}: has 2 and 3 ranks"):
        import_nccl_inspector([one, again])


def test_nothing_to_import(tmp_path: Path) -> None:
    with pytest.raises(InputRefusal, match="no file is given"):
        import_nccl_inspector([])
    for lines, told in (
        ([{**head(0), **collective(0, size=0)}], "nothing to import: .* but 1 empty"),
        ([{**head(0), **marker(0)}], "nothing to import: no record of a call that moves data;"),
    ):
        with pytest.raises(InputRefusal, match=told):
            import_nccl_inspector([written(tmp_path / "a.log", lines)])
    with pytest.raises(InputRefusal, match="but 1 other group"):
        import_nccl_inspector([written(tmp_path / "a.log", [GOOD])], NcclInspectorSettings(process_group="tp"))


@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_mutated_files(tmp_path: Path, on_error: Any) -> None:
    """Refused in one line or read, whatever is damaged; what is read has an account that closes."""
    settings = NcclInspectorSettings(on_error=on_error)
    ranks = []
    for rank in (0, 1):
        own = [collective(n, **times(100 * n + rank, 100 * n + 90)) for n in range(4)]
        own += [message(1, "Recv" if rank else "Send", 1 - rank, **times(500, 540, "p2p")), collective(0, "AllGather")]
        ranks.append(own)
    one, other = job(tmp_path, *ranks)
    fates = fates_of_damaged(
        one, one.read_bytes(), lambda _: check_account(import_nccl_inspector([one, other], settings).trace)
    )
    assert min(fates.values()) > INPUTS // 100
