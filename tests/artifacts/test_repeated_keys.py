"""A key that stands twice is named with its place; the oracle is the standard library's decoder."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commcanary.artifacts.repeated_keys import check_keys
from commcanary.errors import InputRefusal

KEYS = st.sampled_from(["a", "b", "\\u0061", "c:", '\\"', "{", "]", "\\\\", ""])
"""As they are spelt in JSON: two of them are the same key."""
SCALARS = st.sampled_from(["1", "-2.5e3", "null", '"a"', '"\\":1"', '"{,}"', '"a\\\\"'])


def _object(pairs: list[tuple[str, str]]) -> str:
    return "{" + " , ".join(f'"{key}" :{value}' for key, value in pairs) + "}"


VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(st.tuples(KEYS, inner), max_size=4).map(_object)
        | st.lists(inner, max_size=3).map(lambda items: f"[{','.join(items)}]")
    ),
    max_leaves=25,
)


def has_a_key_twice(text: str) -> bool:
    found = []

    def pairs_of(pairs: list[tuple[str, Any]]) -> None:
        found.append(len({key for key, _ in pairs}) < len(pairs))

    json.loads(text, object_pairs_hook=pairs_of)
    return any(found)


@given(VALUES)
def test_it_is_found_where_the_decoder_sees_it_and_nowhere_else(text: str) -> None:
    if has_a_key_twice(text):
        with pytest.raises(InputRefusal, match="given twice"):
            check_keys(text.encode())
    else:
        check_keys(text.encode())


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"a": 1, "a": 2}', "a: the key 'a'"),
        ('{"a": 1, "\\u0061": 2}', "a: the key 'a'"),
        ('{"x": [{"a": 1}, {"a": 1, "b": {}, "a": 2}]}', "x[1].a: the key 'a'"),
        ('{"x": [{"a": 1}, {"a": 1, "a": 2}]}', "x[1].a: the key 'a'"),
        ('[[], [{"k": "k", "k": "k"}]]', "[1][0].k: the key 'k'"),
        ('{"y": {"a": 1}, "z": 2, "y": 3}', "y: the key 'y'"),
    ],
)
def test_its_place_is_named(text: str, place: str) -> None:
    with pytest.raises(InputRefusal) as refused:
        check_keys(text.encode())
    assert str(refused.value).startswith(place)


def test_an_object_of_very_many_keys_is_read_too() -> None:
    text = "{" + ",".join(f'"k{number}":{number}' for number in range(50_000))
    check_keys((text + "}").encode())
    with pytest.raises(InputRefusal, match="'k7' is given twice"):
        check_keys((text + ',"k7":0}').encode())
