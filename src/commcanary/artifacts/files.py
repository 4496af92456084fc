"""Reading and writing artifacts by file suffix: ``.json`` or ``.parquet``."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import TypeVar

import msgspec
import pyarrow as pa

from commcanary.artifacts.atomic import write_atomically, write_bytes
from commcanary.artifacts.canonical import canonical_json
from commcanary.artifacts.input_limit import check_input_bytes
from commcanary.artifacts.jsontext import decode
from commcanary.artifacts.parquetfile import (
    StatedFormat,
    check_content_id,
    check_format,
    read_parquet,
    stated_header,
    write_parquet,
)
from commcanary.artifacts.repeated_keys import check_keys
from commcanary.artifacts.stored import JsonDocument, Kind, Stored
from commcanary.errors import InputRefusal, Refusal, StorageRefusal, UsageError

H = TypeVar("H", bound=msgspec.Struct)

SUFFIXES = (".json", ".parquet")


def check_suffix(path: Path) -> str:
    """The container suffix of ``path``; raises ``UsageError`` for any other ending."""
    suffix = Path(path).suffix
    if suffix not in SUFFIXES:
        raise UsageError(f"{path}: the name must end in .json or .parquet")
    return suffix


def read_artifact(path: Path, kind: Kind[H]) -> Stored[H]:
    """Read the artifact of ``kind`` at ``path``; every ``Refusal`` names the file."""
    suffix = check_suffix(path)
    try:
        if suffix == ".parquet":
            return read_parquet(_mapped(path), kind)
        data = read_bytes(path)
        check_format(data, kind)
        stored = kind.from_json(data)
        if kind.states_content_id:
            check_keys(data)
            check_content_id(stored, decode(data, _StatedContentId).content_id)
        return stored
    except Refusal as refusal:
        raise refusal.in_file(str(path)) from refusal.__cause__


def write_artifact(path: Path, kind: Kind[H], stored: Stored[H]) -> None:
    """Write ``stored`` to ``path`` atomically, in the container that its suffix names."""
    if check_suffix(path) == ".parquet":
        write_atomically(path, lambda stream: write_parquet(stream, stored))
    else:
        write_bytes(path, json_bytes(kind, stored) + b"\n")


def json_document(kind: Kind[H], stored: Stored[H]) -> JsonDocument:
    """The JSON document of an artifact, with its content id where the format states one."""
    document = kind.to_json(stored)
    return {**document, "content_id": stored.content_id} if kind.states_content_id else document


def json_bytes(kind: Kind[H], stored: Stored[H]) -> bytes:
    """Canonical exchange JSON of an artifact: the bytes that size figures are about."""
    return canonical_json(json_document(kind, stored))


def format_of(path: Path) -> str:
    """The ``format`` that the file at ``path`` states; every ``Refusal`` names the file."""
    try:
        data = stated_header(_mapped(path)) if check_suffix(path) == ".parquet" else read_bytes(path)
        return decode(data, StatedFormat).format
    except Refusal as refusal:
        raise refusal.in_file(str(path)) from refusal.__cause__


def read_bytes(path: Path) -> bytes:
    """All bytes of ``path``.

    Raises ``StorageRefusal`` where unreadable or no regular file, ``InputRefusal`` where empty, ``BudgetRefusal``
    where larger than an input may be.
    """
    check_file(path)
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise _cannot_be_read(error).in_file(str(path)) from error
    return data


def check_file(path: Path) -> None:
    """Raise a ``Refusal`` naming ``path`` unless it is a regular file, not empty and not larger than allowed.

    Anything else that has a name (a pipe, a device) could keep a reader waiting for ever.
    """
    try:
        status = Path(path).stat()
    except (OSError, ValueError) as error:
        raise _cannot_be_read(error).in_file(str(path)) from error
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a pipe or device"
        raise StorageRefusal("", f"cannot be read ({kind}, not a file)", "give a file", file=str(path))
    if status.st_size == 0:
        raise InputRefusal("", "the file is empty", "copy or export it again", file=str(path))
    check_input_bytes(status.st_size, "the file has", file=str(path))


class _StatedContentId(msgspec.Struct):
    content_id: str = ""


def _mapped(path: Path) -> pa.Buffer:
    check_file(path)
    try:
        with pa.memory_map(str(path)) as source:
            return source.read_buffer()
    except OSError as error:
        raise _cannot_be_read(error) from error


def _cannot_be_read(error: OSError | ValueError) -> StorageRefusal:
    why = getattr(error, "strerror", None) or error
    return StorageRefusal("", f"cannot be read ({why})", "check the name and its rights")
