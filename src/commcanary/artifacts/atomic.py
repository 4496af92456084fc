"""Atomic writes: a file appears under its name complete, or not at all, and where writing is confined only there."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from commcanary.errors import StorageRefusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

_CONFINED: ContextVar[Path | None] = ContextVar("confined", default=None)


@contextmanager
def writing_only_under(folder: Path) -> Iterator[None]:
    """Until the end of the block, refuse to write any artifact outside ``folder``, links followed."""
    token = _CONFINED.set(Path(folder).resolve())
    try:
        yield
    finally:
        _CONFINED.reset(token)


def write_atomically(path: Path, fill: Callable[[BinaryIO], None]) -> None:
    """Write what ``fill`` puts into the handle to ``path``: temporary file in the same folder, fsync, rename.

    Raises ``StorageRefusal`` where the folder cannot be written or the disk is full, and for a path outside the
    folder that ``writing_only_under`` names; nothing is left behind.
    """
    path = Path(path)
    confined = _CONFINED.get()
    if confined is not None and not path.parent.resolve().is_relative_to(confined):
        raise StorageRefusal("", f"lies outside {confined}", "write nothing there", file=str(path))
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        temporary = Path(name)
        with os.fdopen(handle, "wb") as stream:
            fill(stream)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        raise StorageRefusal(
            "",
            f"cannot be written ({error.strerror or error})",
            "check the folder, its rights and free space",
        ).in_file(str(path)) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def write_bytes(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path`` atomically."""
    write_atomically(path, lambda stream: _write(stream, data))


def write_text(path: Path, text: str) -> None:
    """Write ``text`` as UTF-8 to ``path`` atomically."""
    write_bytes(path, text.encode())


def _write(stream: BinaryIO, data: bytes) -> None:
    stream.write(data)
