"""What every source promises, whatever it reads."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import numpy as np
import pytest

from commcanary.artifacts.files import read_artifact, write_artifact
from commcanary.artifacts.trace_checks import check_trace
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.artifacts.trace_table import from_stored, to_stored
from commcanary.errors import EXIT_REFUSED, InputRefusal, StorageRefusal
from commcanary.sources.registry import SOURCES, Source

from .fuzzing import INPUTS, fates_of_damaged
from .imported import check_account

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = {
    "capture": [ROOT / "tests" / "sources" / "capture" / "shards" / f"rank{rank}.json" for rank in (0, 1)],
    "chakra": [ROOT / "tests" / "sources" / "execution_trace" / "samples" / f"job.{rank}.et" for rank in (0, 1)],
    "flight-recorder": [
        ROOT / "tests" / "sources" / "flight_recorder" / "samples" / f"dump_rank_{rank}.json" for rank in (0, 1)
    ],
    "kineto": [ROOT / "resources" / "gloo_ddp" / f"rank{rank}.pt.trace.json.gz" for rank in (0, 1)],
    "nccl-inspector": sorted((ROOT / "resources" / "nccl_job").glob("inspector-*.log")),
    "nccl-log": sorted((ROOT / "resources" / "nccl_job").glob("nccl-*.log")),
    "nsys": [ROOT / "resources" / "nsys" / "two_ranks.sqlite"],
}


@pytest.fixture(params=sorted(SOURCES))
def source(request: pytest.FixtureRequest) -> Source:
    return SOURCES[request.param]


@pytest.fixture
def sample(source: Source) -> list[Path]:
    return SAMPLES[source.name]


def test_every_source_has_a_sample() -> None:
    assert SAMPLES.keys() == SOURCES.keys()


def test_trace_is_one_that_every_stage_accepts(source: Source, sample: list[Path]) -> None:
    trace = source.read(sample).trace
    check_trace(trace.events, trace.start_ns)
    assert trace.header.groups == trace.events.groups


def test_same_files_give_same_content(source: Source, sample: list[Path]) -> None:
    assert source.read(sample).trace.content_id == source.read(sample).trace.content_id


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
def test_trace_survives_both_containers(source: Source, sample: list[Path], suffix: str, tmp_path: Path) -> None:
    trace = source.read(sample).trace
    path = tmp_path / f"trace{suffix}"
    write_artifact(path, TRACE, to_stored(trace))
    again = from_stored(read_artifact(path, TRACE))
    assert again.content_id == trace.content_id
    assert again.header.coverage == trace.header.coverage
    assert np.array_equal(again.start_ns, trace.start_ns)


def test_coverage_closes(source: Source, sample: list[Path]) -> None:
    check_account(source.read(sample).trace)


def test_unknown_fields_have_reasons(source: Source, sample: list[Path]) -> None:
    trace = source.read(sample).trace
    unknown = {
        "rank_arrival_us": not trace.events.offsets_ns.known.all(),
        "compute_overlap_us": (trace.events.compute_overlap_ns < 0).any(),
        "compute_before_us": (trace.events.compute_before_ns < 0).any(),
        "observed_exposed_us": (trace.events.observed_exposed_ns < 0).any(),
    }
    assert {name for name, is_unknown in unknown.items() if is_unknown} <= trace.header.unknown.keys()
    assert all(trace.header.unknown.values())


def test_files_are_named_with_their_digests(source: Source, sample: list[Path]) -> None:
    files = source.read(sample).trace.header.source_files
    assert [(f.name, f.bytes, f.sha256) for f in files] == [
        (path.name, path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest()) for path in sample
    ]


def test_content_does_not_depend_on_where_the_files_lie(source: Source, sample: list[Path], tmp_path: Path) -> None:
    copies = []
    for path in sample:
        copies.append(tmp_path / path.name)
        copies[-1].write_bytes(path.read_bytes())
    assert source.read(copies).trace.content_id == source.read(sample).trace.content_id


@pytest.mark.parametrize("content", [b"", b"\x00" * 600, b"hello", b"\x1f\x8b\x08\x00", b"[]", b"{}", b"null"])
def test_other_content_is_refused_by_name(source: Source, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(content)
    with pytest.raises(InputRefusal) as refused:
        source.read([path])
    assert "other.json" in str(refused.value)
    assert refused.value.exit_code == EXIT_REFUSED


def test_missing_file_is_refused_by_name(source: Source, tmp_path: Path) -> None:
    with pytest.raises(StorageRefusal, match=r"absent\.json"):
        source.read([tmp_path / "absent.json"])


def test_folder_is_refused_by_name(source: Source, tmp_path: Path) -> None:
    with pytest.raises(StorageRefusal, match=tmp_path.name):
        source.read([tmp_path])


def test_damaged_file_is_refused_by_name(source: Source, sample: list[Path], tmp_path: Path) -> None:
    whole = sample[0].read_bytes()
    path = tmp_path / sample[0].name
    for share in (0.1, 0.5, 0.9, 0.999):
        path.write_bytes(whole[: int(len(whole) * share)])
        with pytest.raises(InputRefusal) as refused:
            source.read([path, *sample[1:]])
        assert path.name in str(refused.value)


def test_mutated_files_are_refused_or_read(source: Source, sample: list[Path], tmp_path: Path) -> None:
    """Large samples are slower to read, so that fewer of them are tried."""
    whole = sample[0].read_bytes()
    if sample[0].suffix == ".gz":
        whole = gzip.decompress(whole)
    path = tmp_path / sample[0].name.removesuffix(".gz")
    inputs = max(40, INPUTS * 20_000 // max(20_000, len(whole)))
    fates = fates_of_damaged(
        path, whole, lambda _: check_account(source.read([path, *sample[1:]]).trace), inputs=inputs
    )
    assert min(fates.values()) > 0
