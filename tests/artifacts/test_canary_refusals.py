"""Canaries that no compiler wrote: refused in both containers with the place, before they cost memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import BytesIO
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pytest

from commcanary.artifacts.canary import Canary, CanaryHeader, signatures_of_events
from commcanary.artifacts.canary_exchange import CANARY
from commcanary.artifacts.files import json_bytes
from commcanary.artifacts.parquetfile import read_parquet, write_parquet
from commcanary.artifacts.stored import Stored
from commcanary.compile.compiler import CompileSettings, compile_trace
from commcanary.errors import EXIT_REFUSED, InputRefusal
from commcanary.sources.synthetic.mixed import mixed


@pytest.fixture(scope="module")
def canary() -> Canary:
    return compile_trace(mixed(1, 12), CompileSettings())


Edit = Callable[[dict[str, Any]], Any]

# name: (edit of the JSON document, place, finding)
DOCUMENTS: dict[str, tuple[Edit, str, str]] = {
    "no timing": (lambda d: d.pop("timing"), "timing", "Expected `object`, got `null`"),
    "no gap": (lambda d: d["timing"].pop("gap"), "timing.gap", "is missing"),
    "short column": (lambda d: d["timing"]["compute_before"].pop(), "timing.compute_before", "11 values for 12"),
    "long column": (lambda d: d["timing"]["compute_before"].append(1), "timing.compute_before", "more than 12 values"),
    "short offsets": (lambda d: d["timing"]["offsets"].pop(), "timing.offsets", "values where the groups need"),
    "long offsets": (lambda d: d["timing"]["offsets"].append(1), "timing.offsets", "more than"),
    "null offset": (lambda d: d["timing"]["offsets"].__setitem__(0, None), "timing.offsets", "values where"),
    "flag of 2": (lambda d: d["timing"].update({"compute_uncertain": [2] * 12}), "timing.compute_uncertain", "0 and 1"),
    "known flag of 2": (lambda d: d["timing"].update({"offsets_known": [2] * 12}), "timing.offsets_known", "0 and 1"),
    "negative gap": (lambda d: d["timing"]["gap"].__setitem__(3, -1), "row 3 column gap", "is -1"),
    "null gap": (lambda d: d["timing"]["gap"].__setitem__(3, None), "column gap", "holds null"),
    "gap beyond unknown compute": (
        lambda d: d["timing"].update({"gap.beyond_compute": d["timing"].pop("gap"), "compute_before": [None] * 12}),
        "timing.gap.beyond_compute",
        "does not add up",
    ),
    "gap beyond compute that wraps": (
        lambda d: d["timing"].update({"gap.beyond_compute": [2**63 - 1] * 12, "spare": d["timing"].pop("gap")}),
        "timing.gap.beyond_compute",
        "does not add up",
    ),
    "two gaps": (
        lambda d: d["timing"].update({"gap.beyond_compute": [0] * 12}),
        "timing.gap",
        "is not a column",
    ),
    "unknown column": (lambda d: d["timing"].update({"colour": [1]}), "timing.colour", "is not a column"),
    "too many events": (lambda d: d["compiler"].update(source_events=10**12), "compiler.source_events", "is 10000"),
    "no events": (lambda d: d["compiler"].update(source_events=0), "compiler.source_events", "is 0"),
    "other number of events": (lambda d: d["compiler"].update(source_events=13), "column count", "add up to 13"),
    "count bomb": (
        lambda d: d["timing"].update({"count": [2**62] * 4 + [1] * 8}),
        "column count",
        "does not add up to 12 events",
    ),
    "count of none": (lambda d: d["timing"].update({"count": [0, 2] + [1] * 10}), "column count", "add up to 12"),
    "no unit": (lambda d: d.update(unit_ns=0), "unit_ns", "is 0"),
    "unit bomb": (lambda d: d.update(unit_ns=2**62), "unit_ns", f"is {2**62}"),
    "times that wrap": (lambda d: d.update(unit_ns=10**14), "column gap", "times unit_ns"),
    "group outside": (lambda d: d["signatures"][0].update(group=9), "signatures[0].group", "is 9"),
    "group of too many ranks": (lambda d: d["groups"][0].update(ranks=10**12), "groups[0].ranks", "is 1000000000000"),
    "bytes of none": (lambda d: d["signatures"][0].update(bytes=0), "events[0].bytes", "is 0"),
    "op unknown": (lambda d: d["signatures"][0].update(op="x"), "events[0].op", "is 'x'"),
    "program too long": (lambda d: d.update(program=[[0, 10**9]]), "program[0] entry 0", "reaches more than the 12"),
    "program of text": (lambda d: d.update(program=[["0", 1]]), "program[0][0]", "got `str`"),
    "another field": (lambda d: d.update(gpu="H100"), "top level", "unknown field `gpu`"),
    "another compiler field": (lambda d: d["compiler"].update(gpu=1), "compiler", "unknown field `gpu`"),
    "consumer that is no later event": (
        lambda d: d["timing"].update({"consumer": [0] + [None] * 11}),
        "events[0].consumed_by",
        "is 0",
    ),
    "consumer outside": (
        lambda d: d["timing"].update({"consumer": [None] * 11 + [2**63 - 1]}),
        "events[11].consumed_by",
        "is -",
    ),
    "pressure of text": (
        lambda d: d["timing"].update({"compute_pressure": ["x"]}),
        "timing.compute_pressure",
        "holds something else than numbers",
    ),
}


@pytest.mark.parametrize(("edit", "place", "found"), DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_documents(canary: Canary, edit: Edit, place: str, found: str) -> None:
    assert canary.stored.table is not None
    document = json.loads(json_bytes(CANARY, canary.stored))
    plain = {key: column for key, column in document["timing"].items() if not key.startswith("gap")}
    document["timing"] = {**plain, "gap": canary.stored.table.column("gap").to_pylist()}
    edit(document)
    with pytest.raises(InputRefusal) as caught:
        _ = Canary(CANARY.from_json(json.dumps(document).encode())).events
    assert caught.value.place == place
    assert found in caught.value.found
    assert caught.value.remedy
    assert caught.value.exit_code == EXIT_REFUSED


def through_parquet(stored: Stored[CanaryHeader]) -> Canary:
    stream = BytesIO()
    write_parquet(stream, stored)
    return Canary(read_parquet(pa.py_buffer(stream.getvalue()), CANARY))


def changed(canary: Canary, name: str, row: int, value: Any) -> Canary:
    table = canary.stored.table
    assert table is not None
    rows = table.column(name).to_pylist()
    rows[row] = value
    position = table.column_names.index(name)
    return Canary(
        Stored(canary.header, table.set_column(position, name, pa.array(rows, table.schema.field(name).type)))
    )


# name: (column, row, value, place, finding)
CELLS: dict[str, tuple[str, int, Any, str, str]] = {
    "null count": ("count", 0, None, "column count", "holds null"),
    "null gap": ("gap", 0, None, "column gap", "holds null"),
    "null pressure": ("compute_pressure", 0, None, "column compute_pressure", "holds null"),
    "negative count": ("count", 0, -1, "column count", "does not add up"),
    "negative gap": ("gap", 2, -7, "row 2 column gap", "is -7"),
    "negative before": ("compute_before", 2, -1, "row 2 column compute_before", "is -1"),
    "gap that wraps": ("gap", 2, 2**62 + 1, "column gap", "holds"),
    "null inside a list": ("offsets", 1, [0, None, 1, 2, 3, 4, 5, 6], "row 1 column offsets", "holds null inside"),
    "negative offset": ("offsets", 1, [0, -5, 1, 2, 3, 4, 5, 6], "column offsets", "holds -5"),
    "short list": ("offsets", 1, [0], "events[1].rank_arrival_us", "is 1"),
    "signature where the program has one": ("signature", 0, 1, "row 0 column signature", "is given"),
    "time beyond the range": ("compute_before", 0, 10**16, "events[0].compute_before_us", "is 1"),
    "consumer to nowhere": ("consumer", 0, 0, "events[0].consumed_by", "is 0"),
}


@pytest.mark.parametrize(("name", "row", "value", "place", "found"), CELLS.values(), ids=CELLS.keys())
def test_cells(canary: Canary, name: str, row: int, value: Any, place: str, found: str) -> None:
    with pytest.raises(InputRefusal) as caught:
        _ = through_parquet(changed(canary, name, row, value).stored).events
    assert caught.value.place == place
    assert found in caught.value.found


def test_a_record_covers_one_operation(canary: Canary) -> None:
    compiler = msgspec.structs.replace(canary.header.compiler, source_events=4)
    header = msgspec.structs.replace(canary.header, program=((0, 2, 1, 2),), compiler=compiler)
    said = np.asarray([-1, -1], np.int64)
    assert signatures_of_events(header, said, np.asarray([2, 2])).tolist() == [0, 0, 1, 1]
    with pytest.raises(InputRefusal, match="row 0 column count: covers events of more than one operation"):
        signatures_of_events(header, said, np.asarray([3, 1]))


def test_no_record_at_all(canary: Canary) -> None:
    assert canary.stored.table is not None
    with pytest.raises(InputRefusal, match="timing: holds no records"):
        _ = Canary(Stored(canary.header, canary.stored.table.slice(0, 0))).events


def test_a_million_ranks_times_a_million_events(canary: Canary) -> None:
    document = json.loads(json_bytes(CANARY, canary.stored))
    document["groups"] = [{"name": "g", "ranks": 2**20}]
    document["signatures"] = [{"op": "all_reduce", "bytes": 8, "group": 0, "phase": "p"}]
    document["program"] = [[0, 10**7]]
    document["compiler"]["source_events"] = 10**7
    document["timing"] = {
        "gap.runs": [1, 10**7],
        "offsets.runs": [0, 2**62],
        "compute_pressure.values": [0.5],
        "compute_pressure.index.runs": [0, 10**7],
    }
    with pytest.raises(InputRefusal, match="ranks x events"):
        CANARY.from_json(json.dumps(document).encode())


def test_the_header_alone_is_typed() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"format": "commcanary.canary.v1"}, CanaryHeader)
