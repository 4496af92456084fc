"""An artifact as it is stored: a typed header and at most one Arrow table, whatever the container."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from commcanary.artifacts.content import content_id, table_digest

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from commcanary.artifacts.header_parts import Limits

H = TypeVar("H", bound=msgspec.Struct)

JsonDocument = dict[str, Any]


class SourceFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file that an artifact was made from: base name, size in bytes and hex SHA-256."""

    name: str
    bytes: int
    sha256: str


class Lineage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a derived trace was made from: content id of the original, how, and its event count."""

    derived_from: str
    method: str
    source_events: int


@dataclass(frozen=True)
class Stored(Generic[H]):
    """Header and table of one artifact. ``table`` is None for documents without rows.

    Numbers of the header are brought to their declared types: a whole number in a float field is 1.0 here as
    it is after reading, so that the content id does not depend on who computed it.
    """

    header: H
    table: pa.Table | None = None

    def __post_init__(self) -> None:
        declared = msgspec.convert(msgspec.to_builtins(self.header), type(self.header))
        object.__setattr__(self, "header", declared)

    @classmethod
    def decoded(cls, header: H, table: pa.Table | None = None) -> Stored[H]:
        """What was read from a file: its header was decoded into the declared types, and need not be copied."""
        stored = cls.__new__(cls)
        object.__setattr__(stored, "header", header)
        object.__setattr__(stored, "table", table)
        return stored

    @property
    def rows(self) -> int:
        """Rows of the table, 0 without one."""
        return 0 if self.table is None else int(self.table.num_rows)

    def table_of(self, start: int, count: int) -> pa.Table:
        """The table of ``count`` rows (fewer at the end) from ``start`` on; only where there is a table."""
        assert self.table is not None
        return self.table.slice(start, count)

    @cached_property
    def table_digest(self) -> str:
        """Digest of the table's logical values; that of a report without its samples stands in its header."""
        if self.table is None:
            return str(getattr(self.header, "samples_digest", ""))
        return table_digest(self.table)

    @cached_property
    def content_id(self) -> str:
        """Hex SHA-256 of what the artifact says, the same in both containers."""
        return content_id(self.header, self.table_digest)


@dataclass(frozen=True)
class Kind(Generic[H]):
    """One sort of artifact: its ``format`` string, header type, table schema and JSON shape.

    ``to_json`` makes the JSON document (without ``content_id``); ``from_json`` reads its bytes back.
    ``states_content_id`` is False for the exchange format that others write too; ``limits`` says how much the
    header's fields may hold, None that they are not bounded.
    """

    name: str
    format: str
    header: type[H]
    schema: pa.Schema | None
    to_json: Callable[[Stored[H]], JsonDocument]
    from_json: Callable[[bytes], Stored[H]]
    states_content_id: bool = True
    limits: Limits | None = None
