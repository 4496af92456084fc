"""Two plain documents compared leaf by leaf, each difference named by its path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ABSENT = "absent"
_LONGEST = 60


def changed_leaves(old: dict[str, Any], new: dict[str, Any], line: str = "{path}: {old} -> {new}") -> Iterator[str]:
    """``line`` for every leaf that differs; lists of named entries are matched by name."""
    before, after = dict(_leaves(old)), dict(_leaves(new))
    for path in dict.fromkeys((*before, *after)):
        if before.get(path, ABSENT) != after.get(path, ABSENT):
            yield line.format(path=path, old=_shown(before, path), new=_shown(after, path))


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value:
        names = [inner.get("name") if isinstance(inner, dict) else None for inner in value]
        unique = all(isinstance(name, str) for name in names) and len(set(map(str, names))) == len(names)
        for position, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{names[position] if unique else position}]")
    else:
        yield path, value


def _shown(leaves: dict[str, Any], path: str) -> str:
    text = str(leaves[path]) if path in leaves else ABSENT
    return text if len(text) <= _LONGEST else f"{text[:12]}..."
