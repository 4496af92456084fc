"""Plain data made into typed settings, where a refusal names the key and what stands there."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, TypeVar

from commcanary.artifacts.jsontext import convert
from commcanary.errors import InputRefusal, Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")

_LONGEST_VALUE = 60
_SOME_ENTRY = "..."
"""How msgspec says that an entry of a mapping is wrong, whichever it is."""
_SOME_KEY = "[key]"
"""How a place says that a key of the mapping before it is wrong, whichever it is."""


def named_value(document: Any, kind: type[T]) -> T:
    """``document`` as ``kind``; raises ``InputRefusal`` with the path of the first wrong value, and the value.

    The value is said where it is a word, a number or a short list of them; a number that YAML read as a text comes
    with the way to write it.
    """
    try:
        return convert(document, kind)
    except Refusal as refusal:
        _name(refusal, document, kind)
        raise


def _name(refusal: Refusal, document: Any, kind: type[Any]) -> None:
    steps: list[Any] = []
    value = document
    for step in re.findall(r"[^.\[\]]+|(?<=\[)\.\.\.(?=\])", refusal.place.removesuffix(_SOME_KEY)):
        if step == _SOME_ENTRY and isinstance(value, dict):
            step = _entry(refusal.place, document, steps, value, kind)
            refusal.place = refusal.place.replace(f"[{_SOME_ENTRY}]", f".{step}", 1)
        try:
            value = value[int(step)] if isinstance(value, list) else value[step]
        except (LookupError, TypeError, ValueError):
            return
        steps.append(step)
    if refusal.place.endswith(_SOME_KEY) and isinstance(value, dict):
        key = _entry(refusal.place, document, steps, value, kind)
        refusal.place = refusal.place.removesuffix(_SOME_KEY)
        refusal.found = f"has the key {key!r} ({refusal.found})"
        refusal.remedy = "correct the key" if isinstance(key, str) else "write the key in quotes"
        return
    short = repr(value)
    if isinstance(value, dict) or len(short) > _LONGEST_VALUE or not refusal.found.startswith("Expected"):
        return
    if "trim_s" in refusal.place:
        refusal.remedy = "give start and end in seconds, start below end"
    elif isinstance(value, str) and refusal.found.startswith(("Expected `int", "Expected `float")):
        refusal.remedy = _written(value, whole=refusal.found.startswith("Expected `int"))
    refusal.found = f"is {short} ({refusal.found})"


def _entry(place: str, document: Any, steps: Sequence[Any], holder: dict[Any, Any], kind: type[Any]) -> Any:
    """The key of the first wrong entry of ``holder``, which lies at ``steps``: half of the entries tried at a time."""
    keys = list(holder)
    while len(keys) > 1:
        half = keys[: len(keys) // 2]
        wrong = _refused_at(_with(document, steps, {key: holder[key] for key in half}), kind)
        keys = half if wrong is not None and wrong.startswith(place.partition(_SOME_ENTRY)[0]) else keys[len(half) :]
    return keys[0]


def _refused_at(document: Any, kind: type[Any]) -> str | None:
    try:
        convert(document, kind)
    except InputRefusal as refusal:
        return refusal.place
    return None


def _with(document: Any, steps: Sequence[Any], value: Any) -> Any:
    """``document`` with ``value`` at ``steps``; what lies beside the steps is shared."""
    if not steps:
        return value
    first, *rest = steps
    if isinstance(document, list):
        number = int(first)
        return [*document[:number], _with(document[number], rest, value), *document[number + 1 :]]
    return {**document, first: _with(document[first], rest, value)}


def _written(text: str, *, whole: bool) -> str:
    """How the number that ``text`` looks like is written so that YAML 1.1 reads a number: with dot and sign."""
    if re.fullmatch(r"[+-]?[0-9]{1,30}", text):
        return f"write {int(text)}, without quotes"
    try:
        number = math.nan if whole else float(text)
    except ValueError:
        return "give a number"
    if not math.isfinite(number):
        return "give a whole number" if whole else "give a finite number"
    digits, e, power = repr(number).partition("e")
    return f"write {digits if '.' in digits or not e else digits + '.0'}{e}{power}, without quotes"
