"""Every real execution trace in ../shared/traces, with counts taken from the files by hand."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from commcanary.errors import InputRefusal
from commcanary.sources.execution_trace.importer import import_execution_traces
from commcanary.sources.execution_trace.settings import ExecutionTraceSettings

if TYPE_CHECKING:
    from pathlib import Path

    from commcanary.artifacts.trace import Trace


def operations(trace: Trace) -> Counter[str]:
    return Counter(trace.events.signatures[i].op for i in trace.events.signature)


def test_resnet_of_two_gpus(shared_traces: Path) -> None:
    """27 records: 6 broadcasts, 15 all-reduces, 6 waits; 21 operators around them, 21 marks inside them."""
    done = import_execution_traces([shared_traces / "et" / "resnet_2gpu_et.json.gz"])
    assert done.summary == "imported 21 collective events (skipped 48 control, 0 empty)"
    assert operations(done.trace) == {"all_reduce": 15, "broadcast": 6}
    assert done.trace.header.system["profiled_ranks"] == [1]  # the file's tensors are on cuda:1
    first = done.trace.events.signatures[done.trace.events.signature[0]]
    assert (first.op, first.bytes, first.root_rank) == ("broadcast", 53_120 * 4, 0)
    assert [g.members for g in done.trace.events.groups] == [(0, 1)]


def test_chakra_of_the_same_kind_of_job(shared_traces: Path) -> None:
    """21 collective nodes, of which 7 kernels say operation and size: the rest are operators around them."""
    declared = ExecutionTraceSettings(world_size=2, assume_default_group=True)
    done = import_execution_traces([shared_traces / "chakra" / "chakra.0.et"], declared)
    assert done.summary == "imported 7 collective events (skipped 14 control, 0 empty)"
    assert operations(done.trace) == {"broadcast": 2, "all_reduce": 5}
    rows = [done.trace.events.signatures[i].bytes for i in done.trace.events.signature]
    assert rows == [212_480, 424, 8_196_000, 31_502_336, 26_255_360, 26_550_272, 9_724_160]
    with pytest.raises(InputRefusal, match="the process group is unknown"):
        import_execution_traces([shared_traces / "chakra" / "chakra.0.et"])


def test_astra_sim_micro_traces(shared_traces: Path) -> None:
    folder = shared_traces / "chakra" / "all_reduce_4npus_1MB"
    trace = import_execution_traces([folder / f"all_reduce.{rank}.et" for rank in range(4)]).trace
    assert [(s.op, s.bytes) for s in trace.events.signatures] == [("all_reduce", 1 << 20)]
    assert [g.members for g in trace.events.groups] == [(0, 1, 2, 3)]
    with pytest.raises(InputRefusal, match="the process group is unknown"):  # two of four files are not a job of two
        import_execution_traces([folder / "all_reduce.0.et", folder / "all_reduce.2.et"])


def test_gloo_job(shared_traces: Path) -> None:
    """Rank 0 knows a second group, of itself alone, and calls on it: no node says on which group a call is."""
    paths = [shared_traces / "gloo" / f"et_rank{rank}.json" for rank in (0, 1)]
    with pytest.raises(InputRefusal, match=r"could run on '0' of 2 ranks, '1' of 1 ranks"):
        import_execution_traces(paths, ExecutionTraceSettings(ranks=(0, 1)))
    with pytest.raises(InputRefusal, match=r"8 and 7 calls"):  # declared falsely, and found out
        import_execution_traces(paths, ExecutionTraceSettings(ranks=(0, 1), assume_default_group=True))
    done = import_execution_traces(paths[1:], ExecutionTraceSettings(ranks=(1,)))
    assert operations(done.trace) == {
        "all_reduce": 2,
        "all_gather": 2,
        "broadcast": 1,
        "recv": 1,
        "all_to_all": 1,
        "reduce_scatter": 1,
    }


def test_every_shape_of_the_real_emitter(shared_traces: Path) -> None:
    """14 records: 8 of rank 3, a wait, a barrier, and 4 that rank 3 cannot have called or whose ranks are unlisted."""
    path = shared_traces / "et" / "torch2.14_cpu_record_param_comms_et.json"
    with pytest.raises(InputRefusal, match=r"rank: is 0 in nodes\[27\] and 1 in nodes\[9\]"):
        import_execution_traces([path])
    done = import_execution_traces([path], ExecutionTraceSettings(ranks=(3,), on_error="skip"))
    assert done.summary == "imported 8 collective events (skipped 2 control, 0 empty, 4 refused)"
    assert sum(row.seen for row in done.trace.header.coverage) == 14


def test_chakra_as_json_says_no_sizes(shared_traces: Path) -> None:
    with pytest.raises(InputRefusal, match=r"node 435\.comm_size: is missing"):
        import_execution_traces([shared_traces / "chakra" / "small_chakra.0.json"])
