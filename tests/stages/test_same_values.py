"""Files say the same where only last bits of what follows from samples differ, and nothing else passes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from tests.integrity.filled import filled

from commcanary.artifacts.content import table_digest
from commcanary.artifacts.files import read_artifact, write_artifact
from commcanary.artifacts.stored import Stored
from commcanary.compile.compiler import CompileSettings, compile_trace
from commcanary.errors import Refusal
from commcanary.judge.statistics import DECISIONS
from commcanary.replay.configuration import NAMED, Protocol
from commcanary.replay.report import REPORT, REPORT_SCHEMA, Replayer
from commcanary.sources.synthetic.registry import synthetic
from commcanary.stages.same_values import difference

LAST_BIT = 1e-10


@pytest.fixture
def expected(tmp_path: Path) -> Path:
    document = msgspec.convert(filled(DECISIONS.header), DECISIONS.header)
    write_artifact(tmp_path / "expected.json", DECISIONS, Stored(document))
    return tmp_path / "expected.json"


def forged(expected: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """Another document, right in itself."""
    document = msgspec.to_builtins(read_artifact(expected, DECISIONS).header)
    change(document)
    actual = expected.with_name("actual.json")
    write_artifact(actual, DECISIONS, Stored(msgspec.convert(document, DECISIONS.header)))
    return actual


def number(document: dict[str, Any], by: float) -> None:
    """Change the first number that follows from samples."""
    decision = document["decisions"][0]
    key = next(key for key, value in decision.items() if isinstance(value, float))
    decision[key] += by


def test_equal_bytes_say_the_same(expected: Path) -> None:
    assert difference(expected, forged(expected, lambda document: None)) is None


def test_a_last_bit_and_the_id_that_follows_from_it_are_the_same(expected: Path) -> None:
    actual = forged(expected, lambda document: number(document, LAST_BIT))
    assert actual.read_bytes() != expected.read_bytes()
    assert difference(expected, actual) is None


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda d: number(d, 0.001), "decisions[0]."),
        (lambda d: d.update(tie_band_points=d["tie_band_points"] + LAST_BIT), "tie_band_points: "),
        (lambda d: d.update(runs=d["runs"] + 1), "runs: "),
        (lambda d: d.update(representation="other"), "representation: s0 is not other"),
        (lambda d: d.update(decisions=d["decisions"][:1]), "decisions: 2 rows are not 1"),
        (lambda d: d.update(agreement=None), "agreement: "),
    ],
)
def test_anything_else_differs(expected: Path, change: Callable[[dict[str, Any]], object], place: str) -> None:
    found = difference(expected, forged(expected, change))
    assert found is not None
    assert found.startswith(place)


@pytest.mark.parametrize("by", [0.0, LAST_BIT])
@pytest.mark.parametrize(
    ("rewrite", "refusal"),
    [
        (lambda text: text.replace(b'"runs":', b'"runs":1,"runs":'), "is given twice|twice"),
        (lambda text: text.replace(b'"content_id":"', b'"content_id":"0'), "content_id"),
        (lambda text: text[:-20], "ends too early"),
        (lambda text: text.replace(b'"runs":', b'"more":1,"runs":'), "unknown field"),
        (lambda text: text.replace(b'"runs":', b'"runs":NaN,"run":'), "not valid JSON"),
        (lambda text: b"[" * 50_000, "."),
    ],
)
def test_a_document_that_cannot_be_read_as_one_says_nothing(
    expected: Path, rewrite: Callable[[bytes], bytes], refusal: str, by: float
) -> None:
    actual = forged(expected, lambda document: number(document, by))
    text = rewrite(actual.read_bytes())
    assert text != actual.read_bytes()
    actual.write_bytes(text)
    with pytest.raises(Refusal, match=refusal):
        difference(expected, actual)


@pytest.mark.parametrize("by", [0.0, LAST_BIT])
def test_the_same_document_in_other_bytes_differs(expected: Path, by: float) -> None:
    actual = forged(expected, lambda document: number(document, by))
    actual.write_text(json.dumps(json.loads(actual.read_bytes()), indent=1))
    assert difference(expected, actual) == "other bytes"


@pytest.fixture(scope="module")
def report() -> Stored[Any]:
    replayer = Replayer(compile_trace(synthetic("mixed", 3, 30), CompileSettings()), "scheduler-v4")
    return replayer.report(NAMED["congested"], Protocol())


def written(folder: Path, name: str, report: Stored[Any], by: float = 0.0, **change: Any) -> Path:
    """``report`` with its first sample changed, digest and content id right unless ``change`` says otherwise."""
    assert report.table is not None
    columns = {name: report.table.column(name).to_numpy().copy() for name in report.table.column_names}
    columns["exposed_us"][0] += by
    table = pa.table(columns, schema=REPORT_SCHEMA)
    header = msgspec.structs.replace(report.header, **{"samples_digest": table_digest(table), **change})
    (folder / "reports").mkdir(exist_ok=True)
    write_artifact(folder / "reports" / name, REPORT, Stored(header, table))
    return folder / "reports" / name


@pytest.mark.parametrize(
    ("by", "change", "found"),
    [
        (0.0, {}, None),
        (LAST_BIT, {}, None),
        (0.001, {}, "exposed_us[0]: "),
        (LAST_BIT, {"samples_digest": "0" * 64}, "samples_digest: does not follow from the samples"),
        (0.0, {"assumptions": {"gap_us": LAST_BIT}}, "assumptions.gap_us: not there when derived"),
        (0.0, {"workload": {"name": "other"}}, "workload."),
    ],
)
def test_reports(tmp_path: Path, report: Stored[Any], by: float, change: dict[str, Any], found: str | None) -> None:
    said = difference(written(tmp_path, "a.parquet", report), written(tmp_path, "b.parquet", report, by, **change))
    assert (said is None) == (found is None), said
    assert said is None or said.startswith(str(found))


def test_settings_of_a_report_are_equal_to_the_last_bit(tmp_path: Path, report: Stored[Any]) -> None:
    gbps = report.header.backend.bandwidth_gbps
    backend = msgspec.structs.replace(report.header.backend, name=None, label="x", bandwidth_gbps=gbps + 1e-9)
    honest = msgspec.structs.replace(report.header.backend, name=None, label="x")
    a = written(tmp_path, "a.parquet", report, backend=honest)
    b = written(tmp_path, "b.parquet", report, LAST_BIT, backend=backend)
    found = difference(a, b)
    assert found is not None
    assert found.startswith("backend.bandwidth_gbps: ")


def test_text_differs_at_a_line(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n")
    (tmp_path / "b.csv").write_text("x\n2\n")
    assert difference(tmp_path / "a.csv", tmp_path / "b.csv") == "line 2"
