"""Arrays cut between elements, against the standard library's decoding of the whole."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commcanary.artifacts.json_slices import array_slices, last_border

names = st.text(st.sampled_from('ab"\\{}[],: \n\u00e9'), max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)
objects = st.lists(st.dictionaries(names, values, max_size=3), max_size=12)


@given(objects | st.lists(values, max_size=12), st.integers(1, 200), st.sampled_from([None, 0, 2]))
def test_slices_give_the_elements_of_the_whole(elements: list[Any], slice_bytes: int, indent: int | None) -> None:
    text = msgspec.Raw(json.dumps(elements, indent=indent).encode())
    slices = [[json.loads(bytes(element)) for element in part] for part in array_slices(text, slice_bytes)]
    assert [element for part in slices for element in part] == elements


@pytest.mark.parametrize("element", ['{"a":1}', '{"a":[{},{},{"b":"},{"}]}', "[1,2]", '"},{"', "7"])
def test_a_slice_is_about_as_long_as_it_is_said_to_be(element: str) -> None:
    slices = list(array_slices(msgspec.Raw(f"[{','.join([element] * 500)}]".encode()), 100))
    assert sum(map(len, slices)) == 500
    # one longer element at most: a border is looked for backwards from the end
    assert max(sum(len(bytes(one)) + 1 for one in part) for part in slices) <= 101
    assert min(map(len, slices[:-1])) > 1


@given(objects)
def test_borders_lie_between_elements(found: list[dict[str, Any]]) -> None:
    text = json.dumps(found)[1:].encode()  # from inside the array
    border, ends = last_border(text)
    assert ends
    assert (border is None) == (len(found) < 2)
    if border is not None:
        assert json.loads(b"[" + text[:border] + b"]") == found[:-1]


def test_a_string_cut_by_the_slice_holds_no_border() -> None:
    assert last_border(b'{"a": "x}, {"}, {"b": "y}, {') == (14, False)
