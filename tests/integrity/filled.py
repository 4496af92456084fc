"""A document of any type with every field filled in, from the type alone."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import inspect


def filled(kind: type[Any]) -> dict[str, Any]:
    """Plain data that decodes as ``kind``: every optional part there, two entries in every list."""
    value = _filled(inspect.type_info(kind), 0)
    assert isinstance(value, dict)
    return value


def _filled(kind: Any, number: int) -> Any:
    if isinstance(kind, inspect.StructType):
        return _struct(kind, number)
    if isinstance(kind, inspect.UnionType):
        return _filled(next(t for t in kind.types if not isinstance(t, inspect.NoneType)), number)
    if isinstance(kind, inspect.ListType | inspect.VarTupleType):
        return [_filled(kind.item_type, number), _filled(kind.item_type, number + 1)]
    if isinstance(kind, inspect.TupleType):
        return [_filled(part, number) for part in kind.item_types]
    if isinstance(kind, inspect.DictType):
        key = "1" if isinstance(kind.key_type, inspect.IntType) else f"k{number}"
        return {key: _filled(kind.value_type, number)}
    if isinstance(kind, inspect.LiteralType):
        return kind.values[0]
    if isinstance(kind, inspect.BoolType):
        return bool(number % 2)
    if isinstance(kind, inspect.IntType):
        return 1 + number
    if isinstance(kind, inspect.FloatType):
        return 0.25 + number
    return f"s{number}" if isinstance(kind, inspect.StrType) else {"any": number}


def _struct(kind: inspect.StructType, number: int) -> dict[str, Any]:
    try:  # settings check their own ranges: their defaults are within
        made: dict[str, Any] = msgspec.to_builtins(kind.cls())
    except TypeError:
        made = {field.encode_name: _filled(field.type, number) for field in kind.fields}
        if kind.tag_field is not None:
            made[kind.tag_field] = kind.tag
    return made
