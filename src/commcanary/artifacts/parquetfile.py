"""The Parquet container: the header as canonical JSON in the key-value metadata, the table as columns."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from commcanary.artifacts.canonical import canonical_json
from commcanary.artifacts.header_parts import header_and_parts
from commcanary.artifacts.jsontext import decode
from commcanary.artifacts.parquet_columns import check_decoded_size, read_columns
from commcanary.artifacts.parquet_encodings import encodings
from commcanary.artifacts.repeated_keys import check_keys
from commcanary.artifacts.stored import Kind, Stored
from commcanary.errors import InputRefusal, IntegrityRefusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import BinaryIO

H = TypeVar("H", bound=msgspec.Struct)

_HEADER = b"commcanary.header"
_CONTENT_ID = b"commcanary.content_id"
_ZSTD_LEVEL = 6
_REMEDY = "take an unchanged copy, or make it again with the command that made it"


def write_parquet(stream: BinaryIO, stored: Stored[H]) -> None:
    """Write header and table, compressed with zstd; encodings as ``parquet_encodings`` chooses them."""
    table = pa.table({}) if stored.table is None else stored.table
    metadata = {
        _HEADER: canonical_json(stored.header),
        _CONTENT_ID: stored.content_id.encode(),
    }
    chosen = encodings(table)
    with pq.ParquetWriter(
        stream,
        table.schema,
        compression="zstd",
        compression_level=_ZSTD_LEVEL,
        use_dictionary=chosen.dictionary,
        column_encoding=chosen.other,
        write_statistics=False,
        store_schema=False,
    ) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata(metadata)


def read_parquet(data: pa.Buffer, kind: Kind[H]) -> Stored[H]:
    """Read an artifact of ``kind``.

    Raises ``InputRefusal`` for another format, a missing, added or differently typed column,
    ``IntegrityRefusal`` where the stated content id is not that of the content.
    """
    check_decoded_size(data)
    file = _opened(data)
    metadata = file.metadata.metadata or {}
    _require_header(metadata)
    check_format(metadata[_HEADER], kind)
    header, _ = header_and_parts(metadata[_HEADER], kind.header, kind.limits)
    check_keys(metadata[_HEADER], "commcanary.header")
    with _reading():
        table = None
        if kind.schema is not None and _has_table(file.schema_arrow, kind.schema, kind.name):
            strings = [field.name for field in kind.schema if pa.types.is_string(field.type)]
            table = read_columns(_opened(data, strings), kind.schema)
    stored = Stored.decoded(header, table)
    check_content_id(stored, metadata.get(_CONTENT_ID, b"").decode("ascii", "replace"))
    return stored


def stated_header(data: pa.Buffer) -> bytes:
    """The header's JSON, whatever the kind of artifact; raises ``InputRefusal`` where there is none."""
    check_decoded_size(data)
    metadata = _opened(data).metadata.metadata or {}
    _require_header(metadata)
    header: bytes = metadata[_HEADER]
    return header


class StatedFormat(msgspec.Struct):
    """The one field that says which kind of artifact a document is."""

    format: str = ""


def check_format(header_json: bytes, kind: Kind[H]) -> None:
    """Raise ``InputRefusal`` unless the document says that it is of ``kind``."""
    found = decode(header_json, StatedFormat).format
    if found != kind.format:
        raise InputRefusal("format", f"is {found!r} where {kind.format!r} is needed", f"give a {kind.name} file")


def check_content_id(stored: Stored[H], stated: str) -> None:
    """Raise ``IntegrityRefusal`` unless ``stated`` is the content id of ``stored``."""
    if stated != stored.content_id:
        raise IntegrityRefusal(
            "content_id",
            f"states {stated[:12] or 'nothing'} but the content hashes to {stored.content_id[:12]}: "
            "the file was changed after it was written, or another version of this program wrote it",
            _REMEDY,
        )


def _opened(data: pa.Buffer, as_dictionaries: Sequence[str] = ()) -> pq.ParquetFile:
    with _reading():
        return pq.ParquetFile(
            pa.BufferReader(data),
            read_dictionary=list(as_dictionaries),
            thrift_string_size_limit=len(data),
            thrift_container_size_limit=len(data),
        )


@contextmanager
def _reading() -> Iterator[None]:
    """What Arrow says of a file that it cannot read, as a refusal."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
        said = (str(error) or type(error).__name__).splitlines()[0]
        raise InputRefusal("file", f"not a readable Parquet file ({said})", "export or copy it again") from error


def _require_header(metadata: dict[bytes, bytes]) -> None:
    if _HEADER not in metadata:
        raise InputRefusal("key-value metadata", "holds no commcanary.header", "give a CommCanary artifact")


def _has_table(found: pa.Schema, wanted: pa.Schema, kind: str) -> bool:
    """Whether the file holds the table of a ``kind``; raises ``InputRefusal`` where a column is not as it must be."""
    if len(found) == 0 and kind == "report":
        return False
    for field in wanted:
        if field.name not in found.names:
            raise InputRefusal(f"column {field.name}", f"is missing; a {kind} has it as {field.type}", _REMEDY)
        if found.names.count(field.name) > 1:
            raise InputRefusal(f"column {field.name}", "is there twice", _REMEDY)
        stored = found.field(field.name).type
        if stored != field.type:
            raise InputRefusal(f"column {field.name}", f"is {stored} where {field.type} is needed", _REMEDY)
    extra = sorted(set(found.names) - set(wanted.names))
    if extra:
        raise InputRefusal(f"column {extra[0]}", f"is not one that a {kind} has", "remove the column")
    return True
