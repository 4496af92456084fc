"""YAML as people write it: no key twice, nothing that unfolds into more than it says."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import yaml

from commcanary.artifacts.files import read_bytes
from commcanary.errors import BudgetRefusal, InputRefusal

if TYPE_CHECKING:
    from pathlib import Path

MAX_YAML_BYTES = 2**20
"""A configuration is written by hand: what is longer is something else, and YAML is slow to read."""
MAX_VALUES = 200_000
"""Values of one document with every alias written out."""
_BARE = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./ -]*[A-Za-z0-9_./-]|[A-Za-z0-9_]")


def load_yaml(path: Path) -> Any:
    """The YAML document at ``path``.

    Raises ``InputRefusal`` naming the line of what is no YAML or of a key given twice (which YAML itself would
    pass over), ``BudgetRefusal`` for a file that is too long or unfolds to too much.
    """
    data = read_bytes(path)
    if len(data) > MAX_YAML_BYTES:
        raise BudgetRefusal(
            "", f"the file has {len(data):,} bytes", f"a configuration has at most {MAX_YAML_BYTES:,}", file=str(path)
        )
    try:
        data.decode("utf-8")  # YAML allows UTF-16 too, the engine does not
    except UnicodeDecodeError as error:
        found = f"is not UTF-8 (byte {error.start + 1} is 0x{data[error.start]:02x})"
        raise InputRefusal("text", found, "save the file as UTF-8", file=str(path)) from error
    try:
        loader = _StrictLoader(data)
        node = loader.get_single_node()
        if node is None:
            return None
        if _values(node, {}) > MAX_VALUES:
            raise BudgetRefusal(
                "text", f"its aliases stand for more than {MAX_VALUES:,} values", "write less", file=str(path)
            )
        return loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"line {mark.line + 1} column {mark.column + 1}" if mark else "text"
        raise InputRefusal(place, str(error.problem or error), "correct the YAML", file=str(path)) from error
    except RecursionError as error:
        raise InputRefusal("text", "is nested too deep", "correct the YAML", file=str(path)) from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise InputRefusal("text", str(error).splitlines()[0], "correct the YAML", file=str(path)) from error


def yaml_text_of(text: str) -> str:
    """``text`` as it is written in YAML, between braces too: bare where that can be read as nothing else, else quoted.

    Raises ``InputRefusal`` for what no UTF-8 file can hold, as the name of a file may be.
    """
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InputRefusal("", "its name is not UTF-8, as a configuration is", "give it another name", file=text)
    if _BARE.fullmatch(text) and yaml.safe_load(text) == text:
        return text
    return str(yaml.safe_dump(text, default_style='"', allow_unicode=True, width=math.inf)).rstrip("\n")


class _StrictLoader(yaml.SafeLoader):
    """Safe YAML without repeated keys."""


def _mapping(loader: _StrictLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[str] = set()
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise yaml.MarkedYAMLError(problem="a key is not plain text", problem_mark=key.start_mark)
        if key.value in seen:
            raise yaml.MarkedYAMLError(problem=f"key {key.value!r} is given twice", problem_mark=key.start_mark)
        seen.add(key.value)
    return loader.construct_mapping(node, deep=True)


_StrictLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def _values(node: yaml.Node, known: dict[int, int]) -> int:
    """Values under a node with aliases written out, which are the same node again."""
    number = id(node)
    if number in known:
        if not known[number]:
            raise yaml.MarkedYAMLError(problem="an alias refers to what it stands in", problem_mark=node.start_mark)
        return known[number]
    known[number] = 0
    inside: list[yaml.Node] = []
    if isinstance(node, yaml.SequenceNode):
        inside = node.value
    elif isinstance(node, yaml.MappingNode):
        inside = [part for pair in node.value for part in pair]
    elif any("\ud800" <= letter <= "\udfff" for letter in node.value):
        raise yaml.MarkedYAMLError(problem="half of a surrogate pair is no letter", problem_mark=node.start_mark)
    known[number] = 1 + sum(_values(part, known) for part in inside)
    return known[number]
