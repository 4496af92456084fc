"""Readers of our own artifacts, attacked: whatever a file holds, a command ends with a line and an exit code."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.integrity.attacked import CONFIGURATIONS, assert_ends_well, commands, honest_chain

from commcanary.errors import EXIT_REFUSED, EXIT_USAGE, CommCanaryError


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return honest_chain(tmp_path_factory.mktemp("honest"))


def refused(file: Path, chain: dict[str, Path], *, usage: bool = False) -> None:
    for arguments in commands(file, chain, file.parent / "out.json"):
        assert assert_ends_well(arguments, file.parent) == (EXIT_USAGE if usage else EXIT_REFUSED), arguments


NAMES = (
    "trace",
    "canary",
    "report",
    "comparison",
    "report_verification",
    "source_verification",
    "behavior",
    "ledger",
)

FOUL: dict[str, bytes] = {
    "empty": b"",
    "garbage": bytes(range(256)) * 8,
    "a gzip file": gzip.compress(b'{"format":"commcanary.trace.v1","events":[]}'),
    "deep arrays": b"[" * 200_000,
    "deep objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "null": b"null",
    "not UTF-8": b'{"format": "\xff\xfe"}',
    "two documents": b"{} {}",
    "byte order mark": b'\xef\xbb\xbf{"format":"commcanary.trace.v1"}',
}


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
@pytest.mark.parametrize("foul", FOUL.values(), ids=FOUL.keys())
@pytest.mark.parametrize("name", ["trace", "canary", "report", "behavior"])
def test_what_is_no_artifact(chain: dict[str, Path], tmp_path: Path, name: str, foul: bytes, suffix: str) -> None:
    file = tmp_path / f"{name}{suffix}"
    file.write_bytes(foul)
    refused(file, chain)


def test_what_is_no_file(chain: dict[str, Path], tmp_path: Path) -> None:
    for suffix in (".json", ".parquet"):
        (tmp_path / f"canary{suffix}").mkdir()
        os.mkfifo(tmp_path / f"trace{suffix}")  # an open for reading would wait for ever
        for name in ("canary", "trace", "report"):  # a folder, a pipe, nothing
            refused(tmp_path / f"{name}{suffix}", chain)
    refused(Path("/dev/zero"), chain, usage=True)
    plain = tmp_path / "trace.json.gz"
    plain.write_bytes(gzip.compress(chain["trace.json"].read_bytes()))
    refused(plain, chain, usage=True)


@pytest.mark.parametrize("name", NAMES)
def test_the_wrong_artifact(chain: dict[str, Path], tmp_path: Path, name: str) -> None:
    other = "canary" if name != "canary" else "trace"
    for suffix in (".json", ".parquet"):
        file = tmp_path / f"{other}{suffix}"
        file.write_bytes(chain[f"{name}{suffix}"].read_bytes())
        for arguments in commands(file, chain, tmp_path / "out.json")[3:]:
            assert assert_ends_well(arguments, tmp_path) == EXIT_REFUSED


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
@pytest.mark.parametrize("name", NAMES)
def test_truncated_anywhere(chain: dict[str, Path], tmp_path: Path, name: str, suffix: str) -> None:
    whole = chain[f"{name}{suffix}"].read_bytes().rstrip(b"\n")
    file = tmp_path / f"{name}{suffix}"
    for size in [*range(0, len(whole), max(1, len(whole) // 40)), len(whole) - 1]:
        file.write_bytes(whole[:size])
        assert assert_ends_well(["show", str(file)], tmp_path) == EXIT_REFUSED


# --- keys given twice


def paths_of_objects(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    own = [path] if isinstance(node, dict) and node else []
    return own + [found for step, value in inside for found in paths_of_objects(value, (*path, step))]


class Twice(dict[str, Any]):
    """A mapping whose first key is written twice, by the standard library's encoder."""

    def items(self) -> Any:
        (key, value), *rest = super().items()
        return [(key, value), (key, value), *rest]


@pytest.mark.parametrize("name", NAMES)
def test_a_key_given_twice_is_named(
    chain: dict[str, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    document = json.loads(chain[f"{name}.json"].read_bytes())
    places = paths_of_objects(document)
    for path in places[:: max(1, len(places) // 12)]:
        whole = json.loads(json.dumps(document))
        holder = {"": whole}
        parent: Any = holder
        for step, following in zip(("", *path), (*path, None), strict=True):
            if following is None:
                parent[step] = Twice(parent[step])
                key = next(iter(parent[step]))
            parent = parent[step]
        file = tmp_path / f"{name}.json"
        file.write_text(json.dumps(holder[""]))
        for arguments in commands(file, chain, tmp_path / "out.json"):
            assert assert_ends_well(arguments, tmp_path) == EXIT_REFUSED
        with pytest.raises(CommCanaryError) as caught:
            read(file)
        assert f"the key {key!r} is given twice" in str(caught.value)
        place = "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in (*path, key)).lstrip(".")
        assert caught.value.args[0] == place


def read(file: Path) -> None:
    from commcanary.artifacts.files import read_artifact
    from commcanary.stages.kinds import kind_of

    read_artifact(file, kind_of(file))


@pytest.mark.parametrize(
    ("text", "place", "key"),
    [
        (r'{"a": 1, "\u0061": 2}', "a", "a"),
        ('{"a": {"b": 1}, "c": [{"d": 1}, {"d": 1, "e": "x:y", "d": 2}]}', "c[1].d", "d"),
        ('{"a": [[1, 2], {"b": 1, "b": 1}]}', "a[1].b", "b"),
        ('{"": 1, "": 2}', "", ""),
    ],
)
def test_repeated_keys_by_hand(text: str, place: str, key: str) -> None:
    from commcanary.artifacts.repeated_keys import check_keys

    with pytest.raises(CommCanaryError) as caught:
        check_keys(text.encode())
    assert caught.value.args[:2] == (place, f"the key {key!r} is given twice in one object")


json_values = st.recursive(
    st.none() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=20,
)


@given(json_values, st.sampled_from([None, 2]), st.booleans())
def test_repeated_keys_against_the_standard_library(value: Any, indent: int | None, ascii_only: bool) -> None:
    from commcanary.artifacts.repeated_keys import check_keys

    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    check_keys(text.encode("utf-8", "surrogatepass"))
    objects = paths_of_objects(value)
    if objects:
        target = value
        for step in objects[-1]:
            target = target[step]
        marked = json.dumps(value if target is not value else Twice(value), default=str)
        if target is value:
            with pytest.raises(CommCanaryError):
                check_keys(marked.encode())


# --- hostile Parquet


def hostile(chain: dict[str, Path], name: str, change: Any) -> bytes:
    file = pq.ParquetFile(chain[f"{name}.parquet"])
    metadata = {key: value for key, value in file.metadata.metadata.items() if key.startswith(b"commcanary")}
    table, metadata = change(file.read().replace_schema_metadata(None), dict(metadata))
    sink = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata(metadata), sink)
    return bytes(sink.getvalue())


HEADER = b"commcanary.header"
PARQUETS: dict[str, Any] = {
    "no header": lambda t, m: (t, {}),
    "header is no JSON": lambda t, m: (t, {**m, HEADER: b"{"}),
    "header nested deep": lambda t, m: (t, {**m, HEADER: b'{"workload":' * 50_000}),
    "header with a key twice": lambda t, m: (t, {**m, HEADER: m[HEADER][:-1] + b"," + m[HEADER][1:]}),
    "header without format": lambda t, m: (t, {**m, HEADER: b"{}"}),
    "no content id": lambda t, m: (t, {HEADER: m[HEADER]}),
    "another content id": lambda t, m: (t, {**m, b"commcanary.content_id": b"\xff" * 9}),
    "a column more": lambda t, m: (t.append_column("gpu", pa.nulls(len(t))), m),
    "a column less": lambda t, m: (t.drop_columns([t.column_names[0]]), m),
    "no columns": lambda t, m: (t.select([]), m),
    "no rows": lambda t, m: (t.slice(0, 0), m),
    "all text": lambda t, m: (pa.table({name: ["x"] * len(t) for name in t.column_names}), m),
    "all null": lambda t, m: (pa.table([pa.nulls(len(t), f.type) for f in t.schema], schema=t.schema), m),
    "rows twice": lambda t, m: (pa.concat_tables([t, t]), m),
    "most negative": lambda t, m: (with_integers(t, -(2**63)), m),
    "largest": lambda t, m: (with_integers(t, 2**63 - 1), m),
}


def with_integers(table: pa.Table, value: int) -> pa.Table:
    for index, field in enumerate(table.schema):
        if pa.types.is_integer(field.type):
            table = table.set_column(index, field.name, pa.array([value] * len(table)))
        elif pa.types.is_floating(field.type):
            table = table.set_column(index, field.name, pa.array([float("nan")] * len(table)))
    return table


@pytest.mark.parametrize("change", PARQUETS.values(), ids=PARQUETS.keys())
@pytest.mark.parametrize("name", ["trace", "canary", "report"])
def test_hostile_parquet(chain: dict[str, Path], tmp_path: Path, name: str, change: Any) -> None:
    if name == "report" and change is PARQUETS["no columns"]:
        pytest.skip("a report may lack its samples: its header holds their digest")
    file = tmp_path / f"{name}.parquet"
    file.write_bytes(hostile(chain, name, change))
    refused(file, chain)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_damaged_bytes(chain: dict[str, Path], tmp_path: Path, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(chain)))
    text = bytearray(chain[name].read_bytes())
    footer = st.integers(max(0, len(text) - 3000), len(text) - 1)  # where a Parquet file says what it is
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1) | footer)
        inserted = data.draw(
            st.binary(max_size=3) | st.sampled_from([b"1e999", b"9" * 30, b'"\\ud800"', b"[[", b'"a":1,', b"NaN"])
        )
        text[at : at + data.draw(st.integers(0, 3))] = inserted
    file = tmp_path / f"damaged{Path(name).suffix}"
    file.write_bytes(bytes(text))
    for arguments in (["show", str(file)], ["convert", str(file), str(tmp_path / "out.json")]):
        assert_ends_well(arguments, tmp_path)
    (tmp_path / "out.json").unlink(missing_ok=True)


# --- YAML

YAMLS: dict[str, str] = {
    "empty": " ",
    "binary": "\x00\x01",
    "deep": "[" * 20_000,
    "billion laughs": "a: &a [1,1,1,1,1,1,1,1,1]\n"
    + "".join(f"{b}: &{b} [{','.join(['*' + a] * 9)}]\n" for a, b in zip("abcdefghij", "bcdefghijk", strict=True)),
    "refers to itself": "configurations: &a\n- *a\n",
    "a key twice": CONFIGURATIONS + CONFIGURATIONS,
    "a key that is a list": "configurations:\n- {[1, 2]: 3}\n",
    "a date": "configurations:\n- {name: 2021-13-45}\n",
    "an object": "configurations: !!python/object/apply:os.system ['true']\n",
    "not a number": "configurations:\n- {name: a, bandwidth_scale: .nan}\n",
    "too large": "# " + "x" * 2**20 + "\n" + CONFIGURATIONS,
    "an unknown key": "configurations:\n- {name: a, warp: 9}\n",
    "JSON with a surrogate": '{"configurations": [{"name": "\\ud800"}]}',
}


@pytest.mark.parametrize("text", YAMLS.values(), ids=YAMLS.keys())
def test_configurations(chain: dict[str, Path], tmp_path: Path, text: str) -> None:
    file = tmp_path / "configurations.yaml"
    file.write_text(text)
    trace, canary, out = str(chain["trace.json"]), str(chain["canary.json"]), str(tmp_path / "out.json")
    arguments = ["verify-behavior", trace, canary, "-o", out, "--configurations", str(file)]
    assert assert_ends_well(arguments, tmp_path) == EXIT_REFUSED
    assert assert_ends_well(["campaign", "run", str(file)], tmp_path) == EXIT_REFUSED


def test_the_largest_input(chain: dict[str, Path], tmp_path: Path) -> None:
    for suffix in (".json", ".parquet"):
        for name in ("trace", "canary", "report"):
            given = chain[f"{name}{suffix}"]
            for arguments in commands(given, chain, tmp_path / "out.json"):
                limited = [*arguments, "--max-input-bytes", "40"]
                assert assert_ends_well(limited, tmp_path) == EXIT_REFUSED, limited
