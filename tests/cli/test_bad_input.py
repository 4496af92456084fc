"""Bad input: one line on stderr (file, place, value, what to do), exit 3, no output file, no traceback."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commcanary.cli.main import run

EVENT: dict[str, Any] = {"op": "all_reduce", "bytes": 1024, "ranks": 2, "gap_us": 5.0, "compute_before_us": 1.0}


def trace(*changes: dict[str, Any]) -> dict[str, Any]:
    return {"format": "commcanary.trace.v1", "events": [EVENT, *({**EVENT, **change} for change in changes)]}


def written(folder: Path, document: object) -> Path:
    file = folder / "in.json"
    file.write_text(document if isinstance(document, str) else json.dumps(document))
    return file


def without_column(folder: Path, change: Callable[[pa.Table], pa.Table]) -> Path:
    good = folder / "good.json"
    good.write_text(json.dumps(trace({})))
    assert run(["convert", str(good), str(folder / "in.parquet")]) == 0
    file = pq.ParquetFile(folder / "in.parquet")
    table, metadata = file.read(), file.metadata.metadata
    kept = {key: value for key, value in metadata.items() if key.startswith(b"commcanary")}
    pq.write_table(change(table.replace_schema_metadata(kept)).replace_schema_metadata(kept), folder / "in.parquet")
    return folder / "in.parquet"


def drop(name: str) -> Callable[[pa.Table], pa.Table]:
    return lambda table: table.drop_columns([name])


def retype(name: str, kind: pa.DataType) -> Callable[[pa.Table], pa.Table]:
    def change(table: pa.Table) -> pa.Table:
        return table.set_column(table.schema.get_field_index(name), name, table.column(name).cast(kind))

    return change


CASES: list[tuple[str, Callable[[Path], Path], tuple[str, ...]]] = [
    ("truncated", lambda f: written(f, json.dumps(trace({}))[:-20]), ("line 1 column", "ends too early")),
    ("no JSON", lambda f: written(f, "{]"), ("line 1 column 2", "not valid JSON")),
    ("empty file", lambda f: written(f, ""), ("the file is empty",)),
    ("negative bytes", lambda f: written(f, trace({"bytes": -4})), ("events[1].bytes", "-4")),
    ("NaN", lambda f: written(f, json.dumps(trace({"gap_us": float("nan")}))), ("line 1 column", "not valid JSON")),
    ("duplicate ranks", lambda f: written(f, trace({"ranks": [1, 3, 1]})), ("events[1].ranks", "rank 1 twice")),
    (
        "start and gap",
        lambda f: written(f, {**trace(), "events": [{**EVENT, "start_us": 0}, {**EVENT, "start_us": 9.0}]}),
        ("events[1].gap_us", "5.0", "9.0"),
    ),
    ("empty trace", lambda f: written(f, {**trace(), "events": []}), ("events", "empty")),
    ("other format", lambda f: written(f, {"format": "other.v1", "events": []}), ("format", "other.v1")),
    ("unknown operation", lambda f: written(f, trace({"op": "all_shuffle"})), ("events[1].op", "all_shuffle")),
    ("time as text", lambda f: written(f, trace({"gap_us": "5"})), ("events[1].gap_us", "str")),
    ("missing file", lambda f: f / "absent.json", ("cannot be read",)),
    ("no Parquet", lambda f: _text_parquet(f), ("not a readable Parquet file",)),
    ("column missing", lambda f: without_column(f, drop("gap_ns")), ("column gap_ns", "missing")),
    ("column type", lambda f: without_column(f, retype("bytes", pa.float64())), ("column bytes", "double")),
]


def _text_parquet(folder: Path) -> Path:
    file = folder / "in.parquet"
    file.write_text("not parquet")
    return file


@pytest.mark.parametrize(("make", "told"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
@pytest.mark.parametrize("suffix", [".json", ".parquet"])
def test_a_bad_trace_is_refused_in_one_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], make: Callable[[Path], Path], told: tuple[str, ...], suffix: str
) -> None:
    file, output = make(tmp_path), tmp_path / f"out{suffix}"
    capfd.readouterr()
    assert run(["compile", str(file), "-o", str(output)]) == 3
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert said.err.startswith(f"commcanary: {file}: ")
    for part in told:
        assert part in said.err
    assert not output.exists()


def test_a_report_of_another_canary_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name, seed in (("a", "1"), ("b", "2")):
        base = str(tmp_path / name)
        assert run(["synth", "inference", "-o", base + ".json", "--seed", seed, "--events", "66"]) == 0
        assert run(["compile", base + ".json", "-o", base + ".canary.json"]) == 0
        assert run(["replay", base + ".canary.json", "-o", base + ".report.json"]) == 0
    capfd.readouterr()
    output = tmp_path / "v.json"
    arguments = ["verify-report", str(tmp_path / "a.report.json"), str(tmp_path / "b.canary.json"), "-o", str(output)]
    assert run(arguments) == 3
    said = capfd.readouterr().err
    assert said.startswith(f"commcanary: {tmp_path / 'a.report.json'}: canary.content_id: ")
    assert said.count("\n") == 1
    assert not output.exists()
    assert run(["compare", str(tmp_path / "a.report.json"), str(tmp_path / "b.report.json"), "-o", str(output)]) == 3
    assert not output.exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["compile", "x.json", "-o", "y.txt"], ".json or .parquet"),
        (["compile", "x.json", "-o", "y.json", "--lossless-timing", "--quantum-us", "1"], "--lossless-timing"),
        (["compile", "x.json"], "--output"),
        (["synth", "nothing", "-o", "y.json"], "nothing"),
        (["replay", "x.json", "-o", "y.json", "--configuration", "fast"], "fast"),
        (["replay", "x.json", "-o", "y.json", "--assume", "skew"], "--assume skew"),
        (["nonsense"], "nonsense"),
    ],
)
def test_wrong_usage_ends_with_2(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: list[str], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    assert told in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == []
