"""Links in a campaign's folder: none leads out of it, neither for what is read as sealed nor for what is written.

``results/`` and ``results/NAME`` themselves may be links: someone who keeps results on another disk made them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from commcanary.errors import IntegrityRefusal, StorageRefusal

if TYPE_CHECKING:
    from collections.abc import Iterator


def leads_out(folder: Path, path: Path) -> bool:
    """Whether ``path``, every link followed, lies outside ``folder``."""
    return not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def inside(folder: Path, name: str) -> Path:
    """The file called ``name`` from ``folder``; raises ``IntegrityRefusal`` for one that lies elsewhere by a link."""
    path = folder / name
    if leads_out(folder, path):
        raise IntegrityRefusal(name, "is a link out of the campaign", "put the file itself there", file=str(folder))
    return path


def is_own_file(folder: Path, path: Path) -> bool:
    """Whether ``path`` is a regular file, and in ``folder``: neither a pipe that a reader waits at, nor elsewhere."""
    return path.is_file() and not leads_out(folder, path)


def own_place(folder: Path, path: Path) -> Path:
    """``path`` below ``folder``, to be written.

    Raises ``StorageRefusal`` for a link, a pipe, a device or a file on the way: what is written there lands elsewhere,
    or nowhere. A folder or file that is not there yet is none.
    """
    for step in _below(folder, path):
        if step.is_symlink():
            found = f"is a link to {os.readlink(step)}"  # noqa: PTH115 - not resolved
            raise StorageRefusal("", found, "remove it: nothing is written through links", file=str(step))
        if step.is_file() and step != path:
            raise StorageRefusal("", "is a file where a folder is needed", "remove it, or move it away", file=str(step))
        if step.exists() and not step.is_dir() and not step.is_file():
            raise StorageRefusal("", "is a pipe or device", "remove it: a file is written there", file=str(step))
    return path


def refuse_links_out(results: Path) -> None:
    """Raise ``StorageRefusal`` for the first link anywhere in ``results`` that leads out of it."""
    for folder, folders, files in os.walk(results):
        for name in sorted((*folders, *files)):
            path = Path(folder, name)
            if path.is_symlink() and leads_out(results, path):
                own_place(results, path)


def _below(folder: Path, path: Path) -> Iterator[Path]:
    """``path`` and what holds it, from just below ``folder`` on."""
    step = folder
    for part in path.relative_to(folder).parts:
        step = step / part
        yield step
