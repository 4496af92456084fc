"""Every form of a number column gives the column back, and no file can ask for more than it may have."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commcanary.artifacts.number_codec import (
    NULL,
    encode_floats,
    encode_integers,
    plain_lists,
    text_size,
)
from commcanary.artifacts.number_reading import EncodedColumns
from commcanary.errors import EXIT_REFUSED, InputRefusal

small = st.integers(-3, 3)
wide = small | st.integers(-(2**62), 2**62) | st.sampled_from([2**63 - 1, -(2**63) + 1])
maybe = wide | st.just(int(NULL))
patterned = st.one_of(
    st.lists(small, max_size=30),
    st.lists(maybe, max_size=20),
    st.builds(lambda body, n: (body * 40)[:n], st.lists(small, min_size=1, max_size=5), st.integers(1, 60)),
    st.builds(lambda runs: [v for v, n in runs for _ in range(n)], st.lists(st.tuples(maybe, st.integers(1, 40)))),
    st.builds(lambda a, d, n: [a + d * i for i in range(n)], wide.map(lambda v: v // 4), small, st.integers(0, 40)),
    st.lists(st.sampled_from([10**12, 10**13, 7]), max_size=40),
)


def read(columns: dict[str, Any]) -> EncodedColumns:
    return EncodedColumns("timing", {key: msgspec.Raw(json.dumps(given).encode()) for key, given in columns.items()})


def decoded(name: str, columns: dict[str, list[Any]], limit: int) -> list[int | None]:
    encoded = read(columns)
    values = encoded.integers(name, limit)
    encoded.finish()
    return [None if v == NULL else int(v) for v in values]


@given(patterned)
def test_integers_come_back(values: list[int]) -> None:
    form = encode_integers("x", np.asarray(values, np.int64))
    written = json.loads(json.dumps(plain_lists(form)))
    assert decoded("x", written, len(values)) == [None if v == int(NULL) else v for v in values]


@given(patterned)
def test_the_text_is_measured_and_never_longer_than_the_plain_one(values: list[int]) -> None:
    form = encode_integers("x", np.asarray(values, np.int64))
    text = json.dumps(plain_lists(form), separators=(",", ":"))
    assert text_size(form) == len(text) - 1  # braces out, one comma in for the next column
    plain = {"x": [None if v == int(NULL) else v for v in values]}
    assert len(text) <= len(json.dumps(plain, separators=(",", ":")))


@given(st.lists(st.sampled_from([0.5, 0.9, 1e300, 0.1 + 0.2]) | st.floats(-1e9, 1e9), min_size=1, max_size=20))
def test_floats_come_back(values: list[float]) -> None:
    form = encode_floats("p", np.asarray(values))
    text = json.dumps(plain_lists(form), separators=(",", ":"))
    assert text_size(form) == len(text) - 1
    encoded = read(json.loads(text))
    assert encoded.floats("p", len(values)).tolist() == values
    encoded.finish()


@pytest.mark.parametrize(
    ("columns", "values"),
    [
        ({"x": [4, None, 6]}, [4, None, 6]),
        ({"x.runs": [7, 2, None, 1, 3, 3]}, [7, 7, None, 3, 3, 3]),
        ({"x.period": [5, 1, None]}, [1, None, 1, None, 1]),
        ({"x.period": [2, 1, 2, 3]}, [1, 2]),
        ({"x.delta": [10, 1, -3]}, [10, 11, 8]),
        ({"x.delta.runs": [5, 4]}, [5, 10, 15, 20]),
        ({"x.delta.period": [5, 1, 2]}, [1, 3, 4, 6, 7]),
        ({"x.values": [10, None], "x.index": [1, 0, 0]}, [None, 10, 10]),
        ({"x.values": [10, 20], "x.index.runs": [1, 2, 0, 1]}, [20, 20, 10]),
        ({"x.values": [10, 20], "x.index.period": [3, 1, 0]}, [20, 10, 20]),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, dict) else "",
)
def test_forms_by_hand(columns: dict[str, list[Any]], values: list[int | None]) -> None:
    assert decoded("x", columns, 6) == values


HOSTILE: dict[str, dict[str, list[Any]]] = {
    "nothing": {},
    "one value too many": {"x": [1] * 7},
    "bool": {"x": [True]},
    "float": {"x": [1.0]},
    "text": {"x": ["1"]},
    "list": {"x": [[1]]},
    "above int64": {"x": [2**63]},
    "the null sentinel": {"x": [-(2**63)]},
    "below int64": {"x": [-(2**63) - 1]},
    "run bomb": {"x.runs": [0, 2**62]},
    "runs whose sum wraps": {"x.runs": [0, 2**62, 0, 2**62, 0, 2**62, 0, 2**62]},
    "runs that wrap to few": {"x.runs": [0, 2**63 - 1, 0, 2**63 - 1, 0, 4]},
    "empty run": {"x.runs": [0, 0]},
    "negative run": {"x.runs": [0, -1]},
    "null run": {"x.runs": [0, None]},
    "half a run": {"x.runs": [0]},
    "period bomb": {"x.period": [2**62, 1]},
    "period without body": {"x.period": [3]},
    "empty period": {"x.period": []},
    "period of none": {"x.period": [0, 1]},
    "period of null": {"x.period": [None, 1]},
    "null difference": {"x.delta": [1, None]},
    "null difference in a run": {"x.delta.runs": [1, 2, None, 2]},
    "differences that wrap": {"x.delta": [2**62, 2**62, 2**62]},
    "index outside": {"x.values": [1], "x.index": [1]},
    "index negative": {"x.values": [1], "x.index": [-1]},
    "index null": {"x.values": [1], "x.index": [None]},
    "index bomb": {"x.values": [1], "x.index.runs": [0, 2**40]},
    "index of nothing": {"x.values": [1]},
    "unknown step": {"x.zigzag": [1]},
    "two forms": {"x": [1], "x.runs": [1, 1]},
    "another column": {"x": [1], "y": [1]},
}


@pytest.mark.parametrize("columns", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_columns_are_refused_by_name(columns: dict[str, list[Any]]) -> None:
    with pytest.raises(InputRefusal) as caught:
        decoded("x", columns, 6)
    assert caught.value.place.startswith("timing.")
    assert caught.value.remedy
    assert caught.value.exit_code == EXIT_REFUSED


FRACTIONS: dict[str, dict[str, list[Any]]] = {
    "nothing": {},
    "bool": {"p": [True]},
    "text": {"p": ["0.5"]},
    "null": {"p": [None]},
    "list": {"p": [[0.5]]},
    "beyond int64": {"p": [2**63]},
    "one value too many": {"p": [0.5] * 4},
    "run bomb": {"p.runs": [0.5, 2**62]},
    "length of 1.0": {"p.runs": [0.5, 1.0]},
    "half a run": {"p.runs": [0.5]},
    "value of a run is null": {"p.runs": [None, 1]},
    "index outside": {"p.values": [0.5], "p.index": [1]},
    "index missing": {"p.values": [0.5]},
}


@pytest.mark.parametrize("columns", FRACTIONS.values(), ids=FRACTIONS.keys())
def test_hostile_fractions_are_refused_by_name(columns: dict[str, list[Any]]) -> None:
    with pytest.raises(InputRefusal) as caught:
        read(columns).floats("p", 3)
    assert caught.value.place.startswith("timing.p")


@pytest.mark.parametrize(
    ("values", "form"),
    [
        ([0.75] * 10, {"x.runs": [0.75, 10]}),
        ([0.5, 0.25], {"x": [0.5, 0.25]}),
        ([0.5, 0.123456] * 20, {"x.values": [0.123456, 0.5], "x.index.period": [40, 1, 0]}),
    ],
)
def test_the_shortest_form_of_fractions(values: list[float], form: dict[str, list[Any]]) -> None:
    assert plain_lists(encode_floats("x", np.asarray(values))) == form
