"""Thrift's compact protocol, as far as Parquet's footer and page headers use it: bytes -> fields by number.

Arrow reads Parquet; this reads only what must be known before Arrow may, because what a hostile footer says
about sizes is believed there, and some of what it says ends the whole process.
"""

from __future__ import annotations

from typing import Any

_STOP, _TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(13)
_DEEPEST = 16

Fields = dict[int, Any]
"""Field number -> int, bytes, list or the fields of a struct."""


class ThriftError(ValueError):
    """Bytes that no writer of the format makes."""


def read_struct(data: memoryview, at: int, end: int) -> tuple[Fields, int]:
    """The struct at ``data[at:end]`` and the position behind it; raises ``ThriftError`` where there is none."""
    reader = _Reader(data, at, end)
    return reader.struct(0), reader.at


class _Reader:
    def __init__(self, data: memoryview, at: int, end: int) -> None:
        self.data = data
        self.at = at
        self.end = end

    def struct(self, depth: int) -> Fields:
        if depth > _DEEPEST:
            raise ThriftError("a struct is nested too deep")
        found: Fields = {}
        number = 0
        while (head := self._byte()) & 0x0F != _STOP:
            number = number + (head >> 4) if head >> 4 else self._integer()
            kind = head & 0x0F
            found[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (_TRUE, _FALSE, _BYTE):  # in a list, a boolean is a byte
            return self._byte()
        if kind in (_I16, _I32, _I64):
            return self._integer()
        if kind == _DOUBLE:
            return self._bytes(8)
        if kind == _BINARY:
            return self._bytes(self._varint())
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_LIST, _SET):
            head = self._byte()
            size = head >> 4 if head >> 4 < 15 else self._varint()
            if size > self.end - self.at or depth > _DEEPEST:
                raise ThriftError("a list is longer than the file")
            return [self._value(head & 0x0F, depth + 1) for _ in range(size)]
        raise ThriftError(f"a value of type {kind}, which Parquet has no field for")

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
        raise ThriftError("a number is too long")

    def _byte(self) -> int:
        if self.at >= self.end:
            raise ThriftError("it ends inside a value")
        self.at += 1
        return self.data[self.at - 1]

    def _bytes(self, count: int) -> bytes:
        if count > self.end - self.at:
            raise ThriftError("it ends inside a value")
        self.at += count
        return bytes(self.data[self.at - count : self.at])
