"""Typed NVTX payloads: the layouts that an export describes, and the fields of a blob by their names.

Numbers of layouts moved between NCCL versions and collided with each other, so a number never decides what a
blob means: the export's own description of its layout does, and the name of each field.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from commcanary.errors import InputRefusal

if TYPE_CHECKING:
    from commcanary.sources.nsys.database import Export

HEADER = 32
"""Bytes before a payload: domain, layout, payload size, payload offset, each an unsigned 64-bit number."""

ENUM_FROM = 1 << 24
"""Entry types from here on are layouts or enumerations of the program."""

_WIDTHS = {
    **dict.fromkeys((1, 11), (1, True)),
    **dict.fromkeys((2, 12, 32), (1, False)),
    **dict.fromkeys((3, 13), (2, True)),
    **dict.fromkeys((4, 14), (2, False)),
    **dict.fromkeys((5, 15), (4, True)),
    **dict.fromkeys((6, 16), (4, False)),
    **dict.fromkeys((7, 9, 17), (8, True)),
    **dict.fromkeys((8, 10, 18, 22, 23), (8, False)),
}
"""(bytes, signed) of the integer entry types of NVTX: char, short, int, long, sized ones, size_t, address."""

_FIELDS = {
    "nccl communicator id": "communicator",
    "message size [bytes]": "bytes",
    "bytes": "bytes",
    "reduction operation": "reduction",
    "root": "root",
    "peer rank": "peer",
    "no. of ranks": "ranks",
    "rank": "rank",
    "cuda device": "device",
    "no. of devices": "devices",
}
"""Our names of NCCL's fields, by their labels in small letters."""


@dataclass(frozen=True)
class Field:
    """A field of a layout: ``offset`` in bytes from the payload's start, ``width`` in bytes."""

    name: str
    offset: int
    width: int
    signed: bool


Layout = tuple[Field, ...]


class Payloads:
    """The layouts that an export describes, by domain and number.

    ``described`` says whether there are any. Raises ``InputRefusal`` where one number has two descriptions.
    """

    def __init__(self, export: Export) -> None:
        self._layouts = _layouts(export)
        self.described = bool(self._layouts)

    def fields(self, blob: bytes, place: str) -> dict[str, int]:
        """NCCL's fields in ``blob``, by our names; fields of other names are left out.

        Raises ``InputRefusal`` for a blob that is no payload of a described layout.
        """
        data = _plain(blob)
        if len(data) < HEADER:
            raise InputRefusal(place, f"has {len(data)} bytes", f"a payload has a header of {HEADER} bytes")
        domain, number, size, last = (int.from_bytes(data[at : at + 8], "little") for at in range(0, HEADER, 8))
        if last not in (HEADER, len(data)) or not 0 < size <= len(data) - HEADER:
            raise InputRefusal(
                place,
                f"says {size} bytes of payload at {last} in {len(data)} bytes",
                "one payload follows its header; export the report again",
            )
        layout = self._layouts.get((domain, number))
        if layout is None:
            raise InputRefusal(
                place,
                f"has layout {number} of domain {domain}, which NVTX_PAYLOAD_SCHEMAS does not describe",
                "export the report again",
            )
        payload = data[HEADER : HEADER + size]
        found: dict[str, int] = {}
        for field in layout:
            part = payload[field.offset : field.offset + field.width]
            if len(part) < field.width:
                raise InputRefusal(place, f"ends inside the field {field.name!r}", "export the report again")
            found.setdefault(field.name, int.from_bytes(part, "little", signed=field.signed))
        return found


def _layouts(export: Export) -> dict[tuple[int, int], Layout]:
    """Every process that registered a layout has described it: equal descriptions are one."""
    table = export.table("NVTX_PAYLOAD_SCHEMA_ENTRIES")
    if table is None:
        return {}
    wanted = [
        c if c in table.columns else f"NULL AS {c}" for c in ("domainId", "schemaId", "idx", "type", "name", "offset")
    ]
    rows = set(export.rows(f'SELECT DISTINCT {", ".join(wanted)} FROM "{table.name}"', table.name))
    entries: dict[tuple[int, int], dict[int, tuple[int, str, int]]] = {}
    for domain, number, index, kind, name, offset in rows:
        place = f"{table.name}(domain {domain}, schema {number}, entry {index})"
        offset = 0 if offset is None else offset
        if not all(isinstance(value, int) for value in (domain, number, index, kind, offset)) or offset < 0:
            raise InputRefusal(
                place, f"has type {kind!r} and offset {offset!r}", "both are whole numbers; export again"
            )
        entry = (kind, "" if name is None else str(name), offset)
        known = entries.setdefault((domain, number), {})
        if known.setdefault(index, entry) != entry:
            raise InputRefusal(
                place,
                f"is both {known[index]} and {entry}",
                "two processes describe one layout differently; export one process at a time",
            )
    return {key: tuple(_readable(described)) for key, described in entries.items()}


def _readable(described: dict[int, tuple[int, str, int]]) -> list[Field]:
    """The fields of NCCL in a description. An enumeration is as wide as C makes it: an int."""
    fields = []
    for _, (kind, label, offset) in sorted(described.items()):
        name = _FIELDS.get(label.strip().lower())
        width = _WIDTHS.get(kind, (4, True) if kind >= ENUM_FROM else None)
        if name is not None and width is not None:
            fields.append(Field(name, offset, *width))
    return fields


def _plain(blob: bytes) -> bytes:
    """The blob's bytes; some ways out of a database write them as hexadecimal text."""
    if len(blob) >= 2 * HEADER and len(blob) % 2 == 0:
        try:
            return bytes.fromhex(blob.decode("ascii"))
        except (UnicodeDecodeError, ValueError):
            pass
    return blob
