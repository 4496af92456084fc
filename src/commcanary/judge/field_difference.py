"""The first field in which two typed documents differ."""

from __future__ import annotations

from typing import Any

import msgspec

Difference = tuple[str, Any, Any]
"""Place (``by_op[2].p99_us``), expected and actual value."""


def first_difference(place: str, expected: Any, actual: Any) -> Difference | None:
    """Where ``actual`` first differs from ``expected`` (documents of the same type), or None."""
    return _differs(place, msgspec.to_builtins(expected), msgspec.to_builtins(actual))


def _differs(place: str, expected: Any, actual: Any) -> Difference | None:
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in sorted(expected.keys() | actual.keys()):
            if key not in expected or key not in actual:
                return f"{place}.{key}", expected.get(key), actual.get(key)
            found = _differs(f"{place}.{key}", expected[key], actual[key])
            if found:
                return found
        return None
    if isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
        if len(expected) != len(actual):
            return f"{place} rows", len(expected), len(actual)
        for index, (left, right) in enumerate(zip(expected, actual, strict=True)):
            found = _differs(f"{place}[{index}]", left, right)
            if found:
                return found
        return None
    return None if expected == actual and type(expected) is type(actual) else (place, expected, actual)
