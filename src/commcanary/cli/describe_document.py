"""Any document as lines and tables: what `show` prints where a kind has no view of its own."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from rich.console import Console
from rich.table import Table
from rich.text import Text

from commcanary.artifacts.canonical import canonical_json
from commcanary.cli.say import say
from commcanary.errors import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

R = TypeVar("R")

MOST_ROWS = 20
"""Rows of a list that may have any number: then how many more there are."""
_MOST_FIELDS = 40
_LONGEST = 60
_LONGEST_CELL = 300
_NO_TERMINAL_COLUMNS = 10_000
"""Where nobody's screen ends: a pipe or a file gets every column whole."""


def print_document(document: Mapping[str, Any], under: str = "") -> None:
    """Print plain data: a line per number or word, ``a.b`` for what lies inside, a table per list of objects."""
    tables = []
    # fields of a document are few; what lies inside may be a list of names
    shown = document.items() if not under else islice(document.items(), _MOST_FIELDS)
    for name, value in shown:
        if name == "format" and not under:
            continue  # said in words already
        place = f"{under}.{name}" if under else name
        if isinstance(value, dict) and value:
            print_document(value, place)
        elif isinstance(value, list | tuple) and value and all(isinstance(row, dict) for row in value):
            tables.append((place, value))
        else:
            say(f"{place}: {_words(value)}")
    if under and len(document) > _MOST_FIELDS:
        say(f"{under}: and {len(document) - _MOST_FIELDS} more")
    for place, rows in tables:
        names = list(dict.fromkeys(name for row in rows[:MOST_ROWS] for name in row))
        say(f"{place}: {len(rows)}")
        print_some(names, rows, lambda row: [_cell(row.get(name)) for name in names])  # noqa: B023


def print_some(names: Sequence[str], rows: Sequence[R], cells: Callable[[R], Sequence[object]]) -> None:
    """Print the first ``MOST_ROWS`` rows under ``names``, each as its ``cells``, and how many more there are."""
    print_table(names, [cells(row) for row in rows[:MOST_ROWS]])
    if len(rows) > MOST_ROWS:
        say(f"and {len(rows) - MOST_ROWS} more")


def say_some(lines: Iterable[object]) -> None:
    """Say the first ``MOST_ROWS`` lines, and how many more there are."""
    remaining = iter(lines)
    for line in islice(remaining, MOST_ROWS):
        say(line)
    more = sum(1 for _ in remaining)
    if more:
        say(f"and {more} more")


def some(values: Sequence[object]) -> str:
    """The first ``MOST_ROWS`` values in brackets, and how many more there are."""
    more = len(values) - MOST_ROWS
    return str(list(values)) if more <= 0 else f"{list(values[:MOST_ROWS])} and {more} more"


def print_table(names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows under their names; as wide as they are unless a terminal shows them."""
    table = Table(box=None, pad_edge=False)
    for name in names:
        table.add_column(Text(one_line(name, _LONGEST_CELL)))
    for row in rows:
        # Text, because a string may hold Rich's own markup
        table.add_row(*(Text("" if value is None else one_line(str(value), _LONGEST_CELL)) for value in row))
    console = Console(soft_wrap=True, highlight=False)
    if not console.is_terminal:
        console.width = _NO_TERMINAL_COLUMNS
    console.print(table)


def _words(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, list | tuple) and all(isinstance(part, str | int | float) for part in value):
        return ", ".join(str(part) for part in value) or "none"
    return _cell(value) or "none"


def _cell(value: Any) -> str:
    if value is None or value == {} or value == []:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return str(round(value, 3))
    if isinstance(value, str | int):
        return str(value)
    text = canonical_json(value).decode()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
