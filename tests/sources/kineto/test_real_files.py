"""Every real profile in ../shared/traces, with counts taken from the files by hand."""

from __future__ import annotations

import tarfile
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from commcanary.errors import InputRefusal
from commcanary.sources.kineto.importer import import_kineto
from commcanary.sources.kineto.settings import KinetoSettings

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.artifacts.trace import Trace


def operations(trace: Trace) -> Counter[str]:
    return Counter(trace.events.signatures[i].op for i in trace.events.signature)


def test_nccl_data_golden_overlap(shared_traces: Path) -> None:
    done = import_kineto([shared_traces / "kineto" / "nccl_data.json.gz"])
    assert done.summary == "imported 21 collective events (skipped 6 control, 0 empty)"
    trace = done.trace
    assert operations(trace) == {"all_reduce": 15, "broadcast": 6}
    # independent interval code in decimals; in float64 it gives 7317.026 and 39559.466 us (Holistic Trace Analysis)
    assert trace.events.compute_overlap_ns.sum() == 7_317_025
    assert trace.events.observed_exposed_ns.sum() == 39_559_468
    first, reduced = trace.events.signatures[0], trace.events.signatures[2]
    assert (first.op, first.bytes, first.dtype, first.phase) == ("broadcast", 53_120 * 4, "float32", "forward")
    assert (reduced.op, reduced.bytes, reduced.phase) == ("all_reduce", 2_049_000 * 4, "backward")
    assert {s.reduction_op for s in trace.events.signatures if s.op == "all_reduce"} == {"sum"}
    assert {s.reduction_op for s in trace.events.signatures if s.op == "broadcast"} == {None}
    # the first two kernels: 4458676423385.774 and 4458676425938.828 us
    assert trace.events.gap_ns[1] == 2_553_054
    assert not trace.events.offsets_ns.known.any()
    assert [(c.rule, c.seen, c.taken, c.reason) for c in trace.header.coverage] == [
        ("record_param_comms", 6, 0, "control: wait"),
        *[("record_param_comms", 21, 21, "")],
    ]
    assert trace.header.coverage[1].time_share == 1.0


def test_world_of_one_without_nccl_kernels(shared_traces: Path) -> None:
    (path,) = (shared_traces / "kineto").glob("rank-0.Apr_03*.json.gz")
    done = import_kineto([path])
    assert done.summary == "imported 35 collective events (skipped 10 control, 0 empty)"
    assert operations(done.trace) == {"all_reduce": 25, "broadcast": 10}
    assert [g.members for g in done.trace.events.groups] == [(0,)]
    assert done.trace.events.offsets_ns.row(0) == [0]  # a rank cannot arrive apart from itself
    assert (done.trace.events.compute_overlap_ns == -1).all()
    # time stamps of 1.7e15 us with ns: 1712195495505630.046 and ...505785.200 in the file's digits
    assert 155_000 <= done.trace.events.gap_ns[1] <= 155_400


DLRM = [
    ("all_to_all", 6144 * 4, "float32"),
    ("all_to_all", 24 * 8, "int64"),
    ("all_to_all", 384 * 4, "int32"),
    ("all_to_all", None, "int32"),
    ("all_reduce", 394241 * 4, "float32"),
    ("all_to_all", 6144 * 4, "float32"),
    ("all_reduce", 112 * 4, "float32"),
    ("all_reduce", 226960 * 4, "float32"),
]


def test_dlrm_eight_ranks(shared_traces: Path) -> None:
    done = import_kineto([shared_traces / "kineto" / "dlrm_kineto.tar.gz"])
    assert done.summary == "imported 8 collective events (skipped 40 control, 0 empty)"
    trace = done.trace
    rows = [trace.events.signatures[i] for i in trace.events.signature]
    for row, (op, size, dtype) in zip(rows, DLRM, strict=True):
        assert (row.op, row.dtype) == (op, dtype)
        assert size is None or row.bytes == size
    assert [g.members for g in trace.events.groups] == [tuple(range(8))]
    assert {c.rule for c in trace.header.coverage if c.taken} == {"record_param_comms, derived"}
    assert sorted({c.rank for c in trace.header.coverage}) == list(range(8))
    assert rows[3].in_elements is None  # splits differ from rank to rank
    assert "uneven" in trace.header.notes


GOLDEN_OVERLAP = [4.5, 2.47, 7.88, 3.31, 0.56, 0.64, 7.56, 9.51]


@pytest.mark.parametrize("rank", range(8))
def test_dlrm_golden_overlap_of_each_rank(shared_traces: Path, rank: int, tmp_path: Path) -> None:
    path = tmp_path / f"rank{rank}.json"
    with tarfile.open(shared_traces / "kineto" / "dlrm_kineto.tar.gz") as archive:
        member = next(m for m in archive if f"worker{rank}_" in m.name)
        content = archive.extractfile(member)
        assert content is not None
        path.write_bytes(content.read())
    events = import_kineto([path]).trace.events
    overlap, exposed = events.compute_overlap_ns.sum(), events.observed_exposed_ns.sum()
    assert round(100 * overlap / (overlap + exposed), 2) == GOLDEN_OVERLAP[rank]


def test_dlrm_clock_estimate_agrees_with_the_shared_clock(shared_traces: Path) -> None:
    path = shared_traces / "kineto" / "dlrm_kineto.tar.gz"
    shared = import_kineto([path], KinetoSettings(assume_shared_clock=True)).trace
    estimated = import_kineto([path], KinetoSettings(estimate_clock=True)).trace
    clock = estimated.header.system["clock"]
    assert clock["error_bound_us"] == 5.0
    for index in range(8):
        one, other = shared.events.offsets_ns.row(index), estimated.events.offsets_ns.row(index)
        assert one is not None
        assert other is not None
        # one host, so one clock: both clocks agree within the bound of each of two ranks
        assert max(abs(a - b) for a, b in zip(one, other, strict=True)) <= 2 * 5_000


REFUSED = [
    ("distributed_info_not_found.json.gz", "distributedInfo: is missing"),
    ("rank_not_found.json.gz", r"distributedInfo\.rank: is missing"),
    ("mi250_minitoy_train_ROCm6_2_kineto.json.gz", "nothing to import"),
    ("rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz", "nothing to import.*10 x communication annotation"),
    ("sampled_rank-0.json.gz", "kernels ran on 2 communicators.*--assume-default-group"),
    ("sampled_rank-1.json.gz", "kernels ran on 2 communicators.*--assume-default-group"),
    ("torch2.14_cpu_record_param_comms_real_emitter.pt.trace.json", "distributedInfo: is missing"),
    ("torch2.14_cpu_rpc_INVALID_JSON_pgdesc_quotes.pt.trace.json", "line 313 column 429: not valid JSON"),
]


@pytest.mark.parametrize(("name", "message"), REFUSED)
def test_refused(shared_traces: Path, name: str, message: str) -> None:
    with pytest.raises(InputRefusal, match=message) as refused:
        import_kineto([shared_traces / "kineto" / name])
    assert name in str(refused.value)
    assert "\n" not in str(refused.value)


def test_default_group_is_not_assumed_against_the_shapes(shared_traces: Path) -> None:
    path = shared_traces / "kineto" / "sampled_rank-0.json.gz"
    settings = KinetoSettings(assume_default_group=True)
    # its all-gathers grow by 64 in a world of 128
    with pytest.raises(InputRefusal, match="all_gather does not fit the default group of 128 ranks"):
        import_kineto([path], settings)
    done = import_kineto([path], KinetoSettings(assume_default_group=True, on_error="skip"))
    assert done.summary == "imported 8 collective events (skipped 0 control, 0 empty, 2 refused)"
    assert operations(done.trace) == {"all_to_all": 4, "all_reduce": 4}
    assert done.trace.header.assumptions == {"default_group": 1.0}


def test_execution_trace_is_no_profile(shared_traces: Path) -> None:
    with pytest.raises(InputRefusal, match="this is an execution trace"):
        import_kineto([shared_traces / "gloo" / "et_rank0.json"])


def test_gloo_rank_1_is_on_one_group(shared_traces: Path) -> None:
    done = import_kineto([shared_traces / "gloo" / "gloo_rank1.pt.trace.json.gz"])
    assert done.summary == "imported 8 collective events (skipped 1 control, 0 empty)"
    rows = [done.trace.events.signatures[i] for i in done.trace.events.signature]
    assert [(r.op, r.bytes, r.dtype) for r in rows] == [
        ("all_reduce", 2000, "bfloat16"),
        ("all_reduce", 2000, "bfloat16"),
        ("all_gather", 4000, "bfloat16"),
        ("broadcast", 2000, "bfloat16"),
        ("recv", 2000, "bfloat16"),
        ("all_to_all", 32, "float32"),
        ("all_gather", 4000, "bfloat16"),
        ("reduce_scatter", 80, "float32"),
    ]
    assert (rows[4].sender_rank, rows[4].receiver_rank) == (0, 1)
    assert rows[3].root_rank == 0


def test_gloo_rank_0_is_on_two_groups(shared_traces: Path) -> None:
    with pytest.raises(InputRefusal, match="names no process group and could run on '0' of 2 ranks, '1' of 1 ranks"):
        import_kineto([shared_traces / "gloo" / "gloo_rank0.pt.trace.json.gz"])
