"""How large a Parquet file becomes, from its footer and its pages: read here before Arrow is asked to.

Field numbers are those of parquet.thrift: FileMetaData (3 num_rows, 4 row_groups), RowGroup (1 columns, 3
num_rows), ColumnChunk (3 meta_data), ColumnMetaData (3 path_in_schema, 5 num_values, 7 total_compressed_size,
9 data_page_offset, 11 dictionary_page_offset), PageHeader (2 uncompressed_page_size, 3 compressed_page_size).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from commcanary.artifacts.thrift_compact import Fields, ThriftError, read_struct
from commcanary.errors import InputRefusal

_MAGIC = b"PAR1"
_REMEDY = "export or copy it again"


@dataclass(frozen=True)
class DecodedSize:
    """Bytes of all pages once decompressed, and number of values of all columns."""

    page_bytes: int
    values: int


def decoded_size(data: memoryview) -> DecodedSize:
    """The size of the file's columns; raises ``InputRefusal`` where footer and pages do not fit together."""
    try:
        footer = _footer(data)
        rows = values = page_bytes = 0
        for number, group in enumerate(_list(footer, 4)):
            rows += _integer(group, 3)
            for chunk in _list(group, 1):
                column = chunk.get(3)
                if not isinstance(column, dict):
                    raise ThriftError("a column has no metadata")
                path = b".".join(part for part in _list(column, 3) if isinstance(part, bytes))
                count = _integer(column, 5)
                values += count
                if b"." not in path and count != _integer(group, 3):
                    place = f"row group {number} column {path.decode('utf-8', 'replace')}"
                    raise InputRefusal(place, f"has {count} values for {_integer(group, 3)} rows", _REMEDY)
                if count:
                    starts = [_integer(column, 9), _integer(column, 11, absent=0)]
                    start = min(at for at in starts if at) if any(starts) else 0
                    page_bytes += _decompressed(data, start, _integer(column, 7))
        if rows != _integer(footer, 3):
            raise InputRefusal("footer", f"states {_integer(footer, 3)} rows, its row groups {rows}", _REMEDY)
    except (ThriftError, AttributeError) as error:
        raise InputRefusal("file", f"not a readable Parquet file ({error})", _REMEDY) from error
    return DecodedSize(page_bytes, values)


def _footer(data: memoryview) -> Fields:
    if len(data) < 12 or data[-4:] != _MAGIC:
        raise ThriftError("it does not end as Parquet files do")
    size = int.from_bytes(data[-8:-4], "little")
    if size > len(data) - 12:
        raise ThriftError("its footer is longer than the file")
    return read_struct(data, len(data) - 8 - size, len(data) - 8)[0]


def _decompressed(data: memoryview, start: int, size: int) -> int:
    """Sum of the decompressed sizes of the pages in ``data[start : start + size]``."""
    if start + size > len(data):
        raise ThriftError("a column lies outside the file")
    total, at, end = 0, start, start + size
    while at < end:
        header, at = read_struct(data, at, end)
        total += _integer(header, 2)
        at += _integer(header, 3)
    if at != end:
        raise ThriftError("a page ends outside its column")
    return total


def _integer(fields: Fields, number: int, absent: int = -1) -> int:
    value = fields.get(number, absent)
    if type(value) is not int or value < 0:
        raise ThriftError(f"field {number} is not a number of 0 or more")
    return value


def _list(fields: Fields, number: int) -> list[Any]:
    value = fields.get(number, [])
    if not isinstance(value, list):
        raise ThriftError(f"field {number} is not a list")
    return value
