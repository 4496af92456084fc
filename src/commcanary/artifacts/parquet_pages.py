"""How large the pages of a Parquet column become: read from the pages themselves, because a footer can lie.

A page header is a Thrift struct in the compact protocol; of it only three integers matter here: field 2 is the
size once decompressed, field 3 the size in the file (parquet.thrift, PageHeader).
"""

from __future__ import annotations

_STOP, _TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(13)
_DECOMPRESSED, _IN_FILE = 2, 3
_DEEPEST = 8


class PageHeaderError(ValueError):
    """A page header that no writer makes."""


def decompressed_bytes(data: memoryview, start: int, size: int) -> int:
    """Sum of the decompressed sizes of the pages in ``data[start : start + size]``.

    Raises ``PageHeaderError`` where that is no row of pages.
    """
    if start < 0 or size < 0 or start + size > len(data):
        raise PageHeaderError("a column lies outside the file")
    total, at, end = 0, start, start + size
    while at < end:
        header = _Reader(data, at, end)
        sizes = header.integers_of_struct()
        packed, unpacked = sizes.get(_IN_FILE, -1), sizes.get(_DECOMPRESSED, -1)
        if packed < 0 or unpacked < 0:
            raise PageHeaderError("a page states no size")
        total += unpacked
        at = header.at + packed
    if at != end:
        raise PageHeaderError("a page ends outside its column")
    return total


class _Reader:
    """Steps over Thrift values in the compact protocol."""

    def __init__(self, data: memoryview, at: int, end: int) -> None:
        self.data = data
        self.at = at
        self.end = end

    def integers_of_struct(self, depth: int = 0) -> dict[int, int]:
        """The 32-bit fields of the struct that begins here; the reader stands behind it then."""
        if depth > _DEEPEST:
            raise PageHeaderError("a page header is nested too deep")
        found: dict[int, int] = {}
        number = 0
        while (head := self._byte()) & 0x0F != _STOP:
            number = number + (head >> 4) if head >> 4 else self._integer()
            kind = head & 0x0F
            if kind == _I32:
                found[number] = self._integer()
            else:
                self._skip(kind, depth)
        return found

    def _skip(self, kind: int, depth: int) -> None:
        if kind in (_TRUE, _FALSE):
            return
        if kind == _BYTE:
            self._byte()
        elif kind in (_I16, _I32, _I64):
            self._varint()
        elif kind == _DOUBLE:
            self._step(8)
        elif kind == _BINARY:
            self._step(self._varint())
        elif kind == _STRUCT:
            self.integers_of_struct(depth + 1)
        else:
            raise PageHeaderError("a page header holds a value that it has no field for")

    def _integer(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            if not byte & 0x80:
                return value
        raise PageHeaderError("a number in a page header is too long")

    def _byte(self) -> int:
        self._step(1)
        return self.data[self.at - 1]

    def _step(self, count: int) -> None:
        if count > self.end - self.at:
            raise PageHeaderError("a page header reaches outside its column")
        self.at += count
