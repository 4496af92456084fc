"""Which parameters of a command are files that it writes, and that none of them is a file that it reads."""

from __future__ import annotations

import os
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commcanary.errors import StorageRefusal, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True, slots=True)
class Written:
    """Marks a parameter of type Path as written; every other Path of a command is read.

    ``beside`` is the suffix of a second file that the command writes in the place of the first one's, ``only_with``
    the flag without which it does not. ``files`` makes the parameter a folder, of which files of that pattern
    are written.
    """

    beside: str | None = None
    only_with: str | None = None
    files: str | None = None


@dataclass(frozen=True, slots=True)
class _Place:
    name: str
    path: Path
    written: Written | None


def check_written(given: Mapping[str, tuple[Any, Written | None]]) -> None:
    """Check the paths of a command before it reads or writes anything.

    ``given`` is value and mark of each parameter by the name that a user knows it by. Raises ``UsageError`` where
    a file would be written over an input or over another output, ``StorageRefusal`` where its folder is not there.
    """
    places = list(_places(given))
    outputs = [place for place in places if place.written is not None]
    inputs = [place for place in places if place.written is None]
    for index, output in enumerate(outputs):
        for other in (*inputs, *outputs[:index]):
            if _collide(output, other):
                raise UsageError(
                    f"{output.name} {output.path} would be written over {other.name} {other.path}; "
                    "give another name: nothing was read or written"
                )
    for output in outputs:
        if output.written is not None and output.written.files is None and not output.path.parent.is_dir():
            raise StorageRefusal(
                "",
                f"cannot be written: the folder {output.path.parent} is not there",
                "make it, or correct the name",
                file=str(output.path),
            )


def _places(given: Mapping[str, tuple[Any, Written | None]]) -> Iterator[_Place]:
    flags = {name for name, (value, _) in given.items() if value is True}
    for name, (value, written) in given.items():
        for path in value if isinstance(value, list | tuple) else (value,):
            if not isinstance(path, Path):
                continue
            yield _Place(name, path, written)
            if (
                written is not None
                and written.beside is not None
                and path.suffix
                and (written.only_with is None or written.only_with in flags)
            ):
                yield _Place(f"what {name} has beside it,", path.with_suffix(written.beside), Written())


def _collide(output: _Place, other: _Place) -> bool:
    return (
        _same(output.path, other.path) or _holds(output, other) or (other.written is not None and _holds(other, output))
    )


def _holds(folder: _Place, file: _Place) -> bool:
    """Whether the folder's files are written over ``file``."""
    if folder.written is None or folder.written.files is None:
        return False
    return _same(folder.path, file.path.parent) and fnmatch(file.path.name, folder.written.files)


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)
