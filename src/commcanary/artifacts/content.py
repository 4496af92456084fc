"""Content ids: SHA-256 over what an artifact says, whatever container or library wrote it.

    content id   = sha256("commcanary.content.v1\\n" + canonical JSON of the header + "\\n"
                          + table digest in hex)
    table digest = sha256 over the columns in name order, each
                   canonical JSON of [name, type] + "\\n" + column bytes

The header leaves out ``notes`` and ``source_files``. Column bytes are the row count (u64), one byte of
validity per row (1 valid, 0 null), then

    int64    each value (i64), nulls as 0        float64  each value (IEEE f64), nulls and -0.0 as 0.0
    bool     one byte each, nulls as 0           string   each UTF-8 length (i64, nulls 0), then all bytes
    list     each length (i64, nulls 0), then the column bytes of all elements in a row

All integers are little endian. Narrower integers count as int64, dictionaries as what they stand for.
NaN is refused.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from commcanary.artifacts.arrow_columns import whole
from commcanary.artifacts.canonical import canonical_json
from commcanary.errors import InputRefusal

if TYPE_CHECKING:
    from collections.abc import Iterable
    from hashlib import _Hash

    from numpy.typing import NDArray

OUTSIDE_CONTENT = ("notes", "source_files")
_DOMAIN = b"commcanary.content.v1\n"


def content_id(header: msgspec.Struct, table_digest: str) -> str:
    """Hex content id of an artifact with this header and this table digest."""
    said = msgspec.to_builtins(header)
    inside = sorted(said.keys() - set(OUTSIDE_CONTENT))
    digest = hashlib.sha256(_DOMAIN + b"{")
    for number, key in enumerate(inside):
        # field by field: the text of a whole header, and the copies made for it, can be many megabytes
        digest.update(b"," * (number > 0) + canonical_json(key) + b":" + canonical_json(said.pop(key)))
    digest.update(b"}\n" + table_digest.encode())
    return digest.hexdigest()


def table_digest(table: pa.Table) -> str:
    """Hex SHA-256 of a table's logical values (see the module text)."""
    return columns_digest((name, _combined(table.column(name))) for name in sorted(table.column_names))


def columns_digest(columns: Iterable[tuple[str, pa.Array]]) -> str:
    """The ``table_digest`` of a table whose ``columns`` come one after the other, in name order."""
    digest = hashlib.sha256()
    for name, column in columns:
        digest.update(canonical_json([name, _type_name(column.type)]) + b"\n")
        _update(digest, column, name)
    return digest.hexdigest()


def _combined(column: pa.ChunkedArray) -> pa.Array:
    combined = whole(column)
    if isinstance(combined, pa.ChunkedArray):  # combine_chunks of zero chunks
        combined = pa.array([], type=column.type)
    return combined.dictionary_decode() if pa.types.is_dictionary(combined.type) else combined


def _type_name(kind: pa.DataType) -> str:
    if pa.types.is_integer(kind):
        return "int64"
    if pa.types.is_floating(kind):
        return "float64"
    if pa.types.is_boolean(kind):
        return "bool"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "string"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"list<{_type_name(kind.value_type)}>"
    raise TypeError(f"no content rule for Arrow type {kind}")


def _update(digest: _Hash, column: pa.Array, name: str) -> None:
    digest.update(len(column).to_bytes(8, "little"))
    _feed(digest, column.is_valid().cast(pa.uint8()))
    kind = column.type
    if pa.types.is_integer(kind):
        _feed(digest, np.asarray(column.cast(pa.int64()).fill_null(0), dtype="<i8"))
    elif pa.types.is_floating(kind):
        values = np.asarray(column.cast(pa.float64()).fill_null(0.0), dtype="<f8")
        if np.isnan(values).any():
            raise InputRefusal(f"column {name}", "holds NaN", "unknown values are null, never NaN")
        _feed(digest, values + 0.0)  # -0.0 + 0.0 is 0.0
    elif pa.types.is_boolean(kind):
        _feed(digest, np.asarray(column.fill_null(False).cast(pa.uint8())))
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        encoded = column.cast(pa.large_binary()).fill_null(b"")
        _feed(digest, np.asarray(pc.binary_length(encoded), dtype="<i8"))
        _feed(digest, _text(encoded))
    else:
        _feed(digest, np.asarray(pc.list_value_length(column).fill_null(0), dtype="<i8"))
        _update(digest, column.flatten(), name)


def _text(encoded: pa.Array) -> NDArray[np.uint8]:
    """The bytes of all values of a large_binary column without nulls, in a row."""
    _, offsets, data = encoded.buffers()
    if data is None or len(encoded) == 0:
        return np.zeros(0, np.uint8)
    bounds = np.frombuffer(offsets, np.int64)[encoded.offset : encoded.offset + len(encoded) + 1]
    return np.frombuffer(data, np.uint8)[bounds[0] : bounds[-1]]


def _feed(digest: _Hash, values: object) -> None:
    digest.update(memoryview(np.ascontiguousarray(values)).cast("B"))  # type: ignore[arg-type]
