"""Where compiled kernels are kept: a folder of its own for each state of their sources.

Numba looks at the file of a kernel alone, not at the files of the kernels that are compiled into it. After an edit of a
helper it would go on running the old machine code.
"""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path

import commcanary
from commcanary.campaign.provenance import names_imported

_PACKAGE = Path(commcanary.__file__).parent
_DIGITS = 16


def kernel_cache(scratch: Path) -> Path:
    """The cache folder under ``scratch`` for the kernels as they are now."""
    return scratch / ".numba" / kernel_digest(_PACKAGE)[:_DIGITS]


def kernel_digest(package: Path) -> str:
    """Hex SHA-256 over every module under ``package`` that imports numba, and every module that those import.

    Each counts as its syntax tree, so that a comment empties no cache.
    """
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(package.rglob("*.py"))}
    names = {_name(package, path): path for path in trees}
    imported = {path: names_imported(tree) for path, tree in trees.items()}
    waiting = [path for path, found in imported.items() if any(name.split(".")[0] == "numba" for name in found)]
    reached: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path not in reached:
            reached.add(path)
            waiting += [names[name] for name in imported[path] if name in names]
    digest = hashlib.sha256()
    for path in sorted(reached):
        tree = hashlib.sha256(ast.dump(trees[path]).encode()).hexdigest()
        digest.update(f"{path.relative_to(package).as_posix()}\n{tree}\n".encode())
    return digest.hexdigest()


def _name(package: Path, path: Path) -> str:
    return ".".join((package.name, *path.relative_to(package).with_suffix("").parts))
