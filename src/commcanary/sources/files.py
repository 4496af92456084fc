"""Files of the outside world: what goes wrong while they are read, and their digests."""

from __future__ import annotations

import gzip
import hashlib
import tarfile
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

from commcanary.artifacts.files import check_file
from commcanary.artifacts.stored import SourceFile
from commcanary.errors import InputRefusal, Refusal, StorageRefusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what goes wrong while ``path`` is read into a ``Refusal`` that names it."""
    try:
        yield
    except Refusal as refusal:
        raise refusal.in_file(str(path)) from refusal.__cause__
    except (EOFError, zlib.error, gzip.BadGzipFile, tarfile.TarError) as error:
        raise InputRefusal(
            "", f"the compressed data are damaged ({error})", "copy or export the file again", file=str(path)
        ) from error
    except OSError as error:
        raise StorageRefusal(
            "", f"cannot be read ({error.strerror or error})", "check the name and its rights", file=str(path)
        ) from error


@contextmanager
def of_all(paths: Sequence[Path], what: str) -> Iterator[None]:
    """Let a ``Refusal`` that names no file name the only one, or how many ``what`` there are."""
    try:
        yield
    except Refusal as refusal:
        raise refusal.in_file(str(paths[0]) if len(paths) == 1 else f"{len(paths)} {what}") from refusal.__cause__


def check_distinct(paths: Sequence[Path], files: Sequence[SourceFile]) -> None:
    """Raise ``InputRefusal`` where two of ``paths`` hold the same bytes, so that what they say would count twice."""
    seen: dict[str, Path] = {}
    for path, file in zip(paths, files, strict=True):
        if file.sha256 in seen:
            found = f"holds the same bytes as {seen[file.sha256]}"
            raise InputRefusal("", found, "give each file once", file=str(path))
        seen[file.sha256] = path


def source_files(paths: Sequence[Path]) -> tuple[SourceFile, ...]:
    """Base name, size and SHA-256 of each file as it lies on disk."""
    found = []
    for path in paths:
        with reading(path):
            check_file(path)
        with reading(path), path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
            found.append(SourceFile(path.name, path.stat().st_size, digest))
    return tuple(found)
