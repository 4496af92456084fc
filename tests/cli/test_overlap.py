"""``commcanary overlap`` as a user runs it: real profiles against the golden values, output, refusals."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.sources.kineto.profiles import info, kernel, profile, record, span

from commcanary.artifacts.files import read_artifact
from commcanary.cli.main import run
from commcanary.timeline.overlap import OVERLAP, Overlap

if TYPE_CHECKING:
    from pathlib import Path

NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)"

HTA, ALL_STEPS, EXACT_NS = ("--convention", "hta"), ("--last-step", "keep"), ("--rounding", "ns")
SAMPLED = ("sampled_rank-0.json.gz", "sampled_rank-1.json.gz")
GOLDEN: list[tuple[tuple[str, ...], tuple[str, ...], list[float]]] = [
    (("nccl_data.json.gz",), (), [15.61]),
    (("nccl_data.json.gz",), HTA, [14.31]),
    (("nccl_data.json.gz",), (*HTA, *ALL_STEPS), [15.14]),
    (("nccl_data.json.gz",), (*HTA, *ALL_STEPS, *EXACT_NS), [15.61]),
    (SAMPLED, (), [14.95, 19.93]),
    (SAMPLED, HTA, [11.81, 20.05]),
    (SAMPLED, (*HTA, *ALL_STEPS), [14.95, 19.93]),
    (("dlrm_kineto.tar.gz",), (), [4.5, 2.47, 7.88, 3.31, 0.56, 0.64, 7.56, 9.51]),
    (("dlrm_kineto.tar.gz",), HTA, [4.5, 2.47, 7.88, 3.31, 0.56, 0.64, 7.56, 9.51]),
]
LENGTHS_US = {  # communication, compute, both, communication only
    "nccl_data.json.gz": [(46876.492, 115655.843, 7317.026, 39559.466)],
    "sampled_rank-0.json.gz": [(396199, 210320, 59216, 336983)],
    "sampled_rank-1.json.gz": [(379053, 271973, 75530, 303523)],
}


def measured(output: Path, *arguments: str) -> Overlap:
    assert run(["overlap", *arguments, "-o", str(output)]) == 0
    return read_artifact(output, OVERLAP).header


@pytest.mark.parametrize(("names", "options", "wanted"), GOLDEN)
def test_golden_ratios(
    shared_traces: Path, tmp_path: Path, names: tuple[str, ...], options: tuple[str, ...], wanted: list[float]
) -> None:
    files = [str(shared_traces / "kineto" / name) for name in names]
    found = [device.main.overlap_pct for device in measured(tmp_path / "o.json", *files, *options).devices]
    assert found == pytest.approx(wanted, abs=0.01)


@pytest.mark.parametrize("name", LENGTHS_US)
def test_golden_lengths(shared_traces: Path, tmp_path: Path, name: str) -> None:
    overlap = measured(tmp_path / "o.parquet", str(shared_traces / "kineto" / name))
    for device, (communication, compute, both, exposed) in zip(overlap.devices, LENGTHS_US[name], strict=True):
        main = device.main
        # the golden lengths are sums of floats: they differ by the rounding of each end to a nanosecond
        assert (main.both_ns + main.communication_only_ns) / 1000 == pytest.approx(communication, abs=0.01)
        assert (main.both_ns + main.compute_only_ns) / 1000 == pytest.approx(compute, abs=0.01)
        assert main.both_ns / 1000 == pytest.approx(both, abs=0.01)
        assert main.communication_only_ns / 1000 == pytest.approx(exposed, abs=0.01)


def job(rank: int = 0, scale: float = 1.0, elements: int = 1024) -> dict[str, Any]:
    """Two steps of 100 us x ``scale`` on one rank: a gemm, then an all-reduce that outlasts it."""
    events: list[dict[str, Any]] = []
    for step in (0, 1):
        at = 100 * scale * step
        events += [
            span(f"ProfilerStep#{step}", "user_annotation", at, 100 * scale),
            span("## backward ##", "user_annotation", at + 1, 20),
            record(ts=at + 2, dur=4, elements=elements, Seq=step, **{"External id": 10 + step}),
            span("cudaLaunchKernel", "cuda_runtime", at + 3, 1, correlation=30 + step),
            span("cudaLaunchKernel", "cuda_runtime", at + 8, 1, correlation=40 + step),
            kernel("sgemm", at + 10, 30 * scale, 7, rank, correlation=40 + step),
            kernel(NCCL, at + 20, 40 * scale, 9, rank, **{"External id": 10 + step, "correlation": 30 + step}),
        ]
    return profile(events, distributedInfo=info(rank), baseTimeNanoseconds=0)


def write(folder: Path, name: str, document: object) -> str:
    (folder / name).write_text(json.dumps(document))
    return str(folder / name)


def test_waiting_for_a_late_rank_is_imbalance(tmp_path: Path) -> None:
    """Rank 1 reaches its collectives 5 us after rank 0, whose device does nothing else meanwhile."""
    late = job(1)
    for event in late["traceEvents"]:
        if event["name"] == NCCL:
            event["ts"] += 25
            event["dur"] -= 25
    files = [write(tmp_path, "0.json", job()), write(tmp_path, "1.json", late)]
    assert run(["overlap", *files, "-o", str(tmp_path / "o.json"), "--assume-shared-clock"]) == 0
    devices = read_artifact(tmp_path / "o.json", OVERLAP).header.devices
    found = [d.dependency for d in devices]
    assert found[0] is not None
    assert found[1] is not None
    idle = [{share.name: share.ns for share in each.idle if share.ns} for each in found if each is not None]
    assert idle[0]["imbalance"] == 2 * 5_000, "from 40, when its gemm ends, to 45, when rank 1 arrives"
    assert "imbalance" not in idle[1]
    assert not found[0].unknown


def test_the_line_names_both_denominators(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["overlap", write(tmp_path, "p.json", job()), "-o", str(tmp_path / "o.json")]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "rank 0 device 0: overlap 50.00 % (both 40.000 us / all communication 80.000 us); "
        "communication only 40.000 us, 26.67 % of the span 150.000 us",
        "  direct exposure 0.000 us of collectives: 1 unknown (no compute is launched behind it); 1 not waited for",
        "  without compute 90.000 us: host gap 55.6 %, unclassified 44.4 %",
        "no profile of 1 of 2 ranks: 1",
        "unknown late_ranks: one profile was given",
    ]


def test_ranks_of_one_clock_have_late_ranks_and_rates(tmp_path: Path) -> None:
    late = job(1)
    for event in late["traceEvents"]:
        event["ts"] += 5
    files = [write(tmp_path, "0.json", job()), write(tmp_path, "1.json", late)]
    overlap = measured(tmp_path / "o.json", *files, "--assume-shared-clock")
    assert overlap.late_ranks is not None
    assert [(row.rank, row.last, row.calls, row.median_ns) for row in overlap.late_ranks.rows] == [
        (1, 2, 2, 5000.0),
        (0, 0, 2, 0.0),
    ]
    (row,) = overlap.payload
    assert (row.calls, row.kernels, row.per_step, row.open_because) == (4, 4, 1, ())
    assert row.rates is not None
    assert row.rates.algbw_p50_gb_s == 0.102  # 4096 B in 40 us
    assert overlap.missing.ranks == ()
    assert overlap.pattern.holds


def test_against_a_document_and_against_profiles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, after = write(tmp_path, "b.json", job(scale=1.2)), write(tmp_path, "a.json", job())
    measured(tmp_path / "b.parquet", before)
    with_document = measured(tmp_path / "one.json", after, "--against", str(tmp_path / "b.parquet"))
    assert "faster: every step after is shorter" in capsys.readouterr().out
    with_profile = measured(tmp_path / "two.json", after, "--against", before)
    assert with_document == with_profile
    assert with_document.against is not None
    assert with_document.against.verdict == "faster"


def test_same_inputs_same_bytes(tmp_path: Path) -> None:
    file = write(tmp_path, "p.json", job())
    for name in ("one.json", "two.json"):
        measured(tmp_path / name, file)
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


def test_show_prints_the_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured(tmp_path / "o.parquet", write(tmp_path, "p.json", job()))
    capsys.readouterr()
    assert run(["show", str(tmp_path / "o.parquet")]) == 0
    shown = capsys.readouterr().out
    assert "overlap 50.00 % (both 40.000 us / all communication 80.000 us)" in shown
    assert "backward" in shown


@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        ({}, ("--trim", "5", "6"), ("--trim", "5 6 is no window")),
        ({}, ("--device", "7"), ("--device", "no profile has a device 7", "there are: 0")),
        ({}, ("--range", "nothing"), ("--range", "matches no annotation")),
        ({"distributedInfo": {"rank": 0, "world_size": 2**70}}, (), ("distributedInfo.world_size", "is 11805916")),
        ({"traceEvents": []}, (), ("traceEvents", "nothing to measure")),
        ({"traceEvents": [kernel("sgemm", 5, -3)]}, (), ("traceEvents[0].dur", "is -3")),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    change: dict[str, Any],
    options: tuple[str, ...],
    words: tuple[str, ...],
) -> None:
    document = job() | change
    if any("phase" in option for option in options):  # anchors count only where nothing is annotated
        document["traceEvents"] = [e for e in document["traceEvents"] if e["cat"] != "user_annotation"]
    file = write(tmp_path, "p.json", document)
    assert run(["overlap", file, "-o", str(tmp_path / "o.json"), *options]) == 3
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert all(word in error for word in words)
    assert not (tmp_path / "o.json").exists()


@pytest.mark.parametrize(
    "options",
    [
        ("--phase-anchor", "forward=x"),
        ("--phase-anchor", "forward=x", "--phase-anchor", "sideways=x"),
        ("--communication-kernel", "mine=("),
        ("--edges", "outside"),
        ("--trim", "5", "1"),
        ("--range", "("),
        ("--clock-offset-us", "0=nan"),
        ("--clock-offset-us", "0=1e300"),
        ("--clock-offset-us", "0=1", "--clock-offset-us", "00=1"),
        ("--step-gap-ms", "inf"),
        ("--phase-anchor", "forward=[", "--phase-anchor", "backward=x"),
        ("--trim", "1"),
    ],
)
def test_usage(tmp_path: Path, options: tuple[str, ...]) -> None:
    assert run(["overlap", "p.json", "-o", str(tmp_path / "o.json"), *options]) == 2


def test_another_job_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, after = write(tmp_path, "b.json", job(elements=2048)), write(tmp_path, "a.json", job())
    assert run(["overlap", after, "--against", before, "-o", str(tmp_path / "o.json")]) == 3
    assert "these are different programs: all_reduce of float32 on 2 ranks has 8192 bytes" in capsys.readouterr().err
