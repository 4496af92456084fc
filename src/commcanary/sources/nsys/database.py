"""An export as a database: tables found by name and suffix, columns by presence, whole numbers as arrays."""

from __future__ import annotations

import re
import sqlite3
from array import array
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from commcanary.artifacts.files import check_file
from commcanary.errors import InputRefusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

UNKNOWN = -1
"""Where a whole number is NULL, or its column is not there."""

LATEST_NS = 4 * 10**18
"""Times of a session lie within this of 0: sums then fit 64 bits."""

LONGEST_NS = 10**15
"""No range or kernel lasts longer (eleven days)."""

_MAGIC = b"SQLite format 3\x00"
EXPORT_AGAIN = "nsys export --type=sqlite --include-blobs=true --force-overwrite=true -o {stem}.sqlite {stem}.nsys-rep"


def export_command(path: Path) -> str:
    """The command that exports the report behind ``path`` with everything an import needs."""
    return EXPORT_AGAIN.format(stem=path.name.removesuffix(".nsys-rep").removesuffix(".sqlite"))


@dataclass(frozen=True)
class Table:
    """A table of an export and the columns that it has. ``name`` may carry a suffix such as ``_V2``."""

    name: str
    columns: frozenset[str]


class Export:
    """An opened export. What its database refuses to give is an ``InputRefusal`` that names the table."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self.path = path
        self._names = [name for (name,) in self._all("SELECT name FROM sqlite_master WHERE type = 'table'", "tables")]

    def table(self, base: str) -> Table | None:
        """The table called ``base``, or ``base_V2`` and so on: the highest that has rows; None where there is none."""
        suffixed = re.compile(re.escape(base) + r"(?:_V(\d{1,6}))?\Z", re.IGNORECASE)
        found = [(int(match[1] or 1), name) for name in self._names if (match := suffixed.match(str(name)))]
        if not found:
            return None
        ordered = [name for _, name in sorted(found, reverse=True)]
        filled = (name for name in ordered if self._all(f"SELECT 1 FROM {_quoted(name)} LIMIT 1", name))
        name = ordered[0] if len(ordered) == 1 else next(filled, ordered[0])
        described = self._all(f"PRAGMA table_info({_quoted(name)})", name)
        return Table(name, frozenset(str(row[1]) for row in described))

    def count(self, table: Table | None) -> int:
        """Rows of a table; 0 where there is none: exports leave empty tables out."""
        return 0 if table is None else int(self._all(f"SELECT count(*) FROM {_quoted(table.name)}", table.name)[0][0])

    def numbers(
        self, table: Table, wanted: Sequence[str], where: str = "", order: str = "", needed: Sequence[str] = ()
    ) -> dict[str, Ints]:
        """int64[n] per column of ``wanted`` (``rowid`` too), -1 where NULL or where the column is not there.

        Raises ``InputRefusal`` for a column of ``needed`` that is not there, and for a value that is no whole
        number of 64 bits.
        """
        for column in needed:
            if column not in table.columns:
                raise InputRefusal(f"{table.name}.{column}", "is missing", "export the report again")
        asked = [
            f"ifnull({_quoted(c)}, -1)" if c in table.columns else "rowid" if c == "rowid" else "-1" for c in wanted
        ]
        text = f"SELECT {', '.join(asked)} FROM {_quoted(table.name)} {where} {order}"
        with self._naming(table.name), closing(self._connection.execute(text)) as cursor:
            try:
                whole = np.frombuffer(array("q", chain.from_iterable(cursor)), np.int64).reshape(-1, len(wanted))
            except TypeError:
                raise self._no_number(table, wanted, where) from None
        return {column: np.ascontiguousarray(whole[:, at]) for at, column in enumerate(wanted)}

    def _no_number(self, table: Table, wanted: Sequence[str], where: str) -> InputRefusal:
        """The refusal of the first value that is no whole number."""
        for column in (c for c in wanted if c in table.columns):
            kind = f"typeof({_quoted(column)}) NOT IN ('integer', 'null')"
            rows = self._all(
                f"SELECT rowid, {_quoted(column)} FROM (SELECT rowid, {_quoted(column)} FROM {_quoted(table.name)} "
                f"{where}) WHERE {kind} LIMIT 1",
                table.name,
            )
            for row, value in rows:
                found = f"is {value!r:.60}"
                return InputRefusal(f"{table.name}[{row}].{column}", found, "it is a whole number; export again")
        return InputRefusal(table.name, "holds values that are no whole numbers", "export the report again")

    def rows(self, text: str, place: str) -> list[tuple[Any, ...]]:
        """Rows of a query about the table ``place``."""
        return self._all(text, place)

    def strings(self) -> dict[int, str]:
        """All of ``StringIds``: what numbers of texts stand for."""
        table = self.table("StringIds")
        if table is None:
            return {}
        rows = self._all(f"SELECT id, CAST(value AS BLOB) FROM {_quoted(table.name)}", table.name)
        return {key: text_of(value) for key, value in rows if isinstance(key, int)}

    def said(self, base: str, name: str) -> str | None:
        """The value of the entry ``name`` in a table of (name, value) pairs, None where it is not there."""
        table = self.table(base)
        if table is None or not {"name", "value"} <= table.columns:
            return None
        found = self._all(f"SELECT name, value FROM {_quoted(table.name)}", table.name)
        return next((str(value) for key, value in found if key == name and value is not None), None)

    def _all(self, text: str, place: str) -> list[tuple[Any, ...]]:
        with self._naming(place), closing(self._connection.execute(text)) as cursor:
            return cursor.fetchall()

    @contextmanager
    def _naming(self, place: str) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OverflowError, UnicodeDecodeError, ValueError) as error:
            raise InputRefusal(
                place, f"cannot be read ({error})", f"export again: {export_command(self.path)}"
            ) from error


@contextmanager
def opened(path: Path) -> Iterator[Export]:
    """The export at ``path``, read-only.

    Raises ``InputRefusal`` for what is no SQLite database or only a part of one, ``OSError`` where there is no file.
    """
    check_file(path)
    with path.open("rb") as stream:
        head = stream.read(100)
    if not head.startswith(_MAGIC):
        raise InputRefusal("", "is no SQLite export of Nsight Systems", f"export the report: {export_command(path)}")
    _check_whole(head, path)
    address = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.text_factory = text_of
            yield Export(connection, path)
    except sqlite3.Error as error:
        raise InputRefusal("", f"is no readable database ({error})", f"export again: {export_command(path)}") from error


def time_fault(start: int, end: int) -> str | None:
    """What is wrong with an interval of the session, or None."""
    if abs(start) > LATEST_NS:
        return f"starts at {start} ns, which is no time of a session"
    if end < start:
        return f"ends at {end} ns, before its start at {start}"
    return f"lasts {end - start} ns" if end - start > LONGEST_NS else None


def text_of(value: Any) -> str:
    """Text of the database, with a replacement character for bytes that are no UTF-8."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _check_whole(head: bytes, path: Path) -> None:
    """A database states its length in pages; a shorter file has lost its end."""
    size = int.from_bytes(head[16:18], "big")
    size = 65_536 if size == 1 else size
    pages, current = int.from_bytes(head[28:32], "big"), head[24:28] == head[92:96]
    lies = path.stat().st_size
    if len(head) < 100 or (current and pages and lies < size * pages):
        raise InputRefusal(
            "",
            f"is truncated: {lies} bytes of {size * pages}",
            f"copy it again, or export again: {export_command(path)}",
        )
