"""Which code made a result: a digest over the modules that a stage imports, comments and layout aside."""

from __future__ import annotations

import ast
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

import commcanary

if TYPE_CHECKING:
    from collections.abc import Iterable

_PACKAGE = Path(commcanary.__file__).parent


@cache
def code_digest(module: str) -> str:
    """Hex SHA-256 over ``module`` and every module of this package that it imports, directly or not.

    Each counts as its syntax tree, so that a comment or a line break changes nothing; templates beside a
    module count by their bytes. Also covers imports inside functions, because that is where heavy modules
    are loaded.
    """
    digest = hashlib.sha256()
    folders = {_file(name).parent for name in reached_modules(module)}
    for template in sorted(path for folder in folders for path in folder.glob("templates/*")):
        digest.update(template.read_bytes())
    for name in sorted(reached_modules(module)):
        digest.update(f"{name}\n{_read(name).digest}\n".encode())
    return digest.hexdigest()


def reached_modules(module: str) -> frozenset[str]:
    """The names of ``module`` and of all modules of this package that it imports, directly or not."""
    reached: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += sorted(imported_modules(name) - reached)
    return frozenset(reached)


def imported_modules(module: str) -> frozenset[str]:
    """Modules of this package that ``module`` imports anywhere in its text.

    A registry that loads modules by name counts too: any string that is the name of a module here.
    """
    return _read(module).imports


@dataclass(frozen=True)
class _Module:
    """Hex digest of a module's syntax tree, and the modules of this package that it names."""

    digest: str
    imports: frozenset[str]


@cache
def _read(module: str) -> _Module:
    """A module read once, however many stages reach it: a campaign asks for the digest of every stage."""
    tree = ast.parse(_file(module).read_text(encoding="utf-8"))
    return _Module(hashlib.sha256(ast.dump(tree).encode()).hexdigest(), _imports(tree))


def names_imported(tree: ast.Module) -> set[str]:
    """Names that may be modules, of all that a module imports anywhere in its text."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.update([node.module, *(f"{node.module}.{alias.name}" for alias in node.names)])
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return found


def _imports(tree: ast.Module) -> frozenset[str]:
    found = names_imported(tree)
    found |= {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    return frozenset(name for name in found if name.startswith("commcanary.") and _is_module(name))


def _is_module(name: str) -> bool:
    return name.replace(".", "").isidentifier() and _file(name).is_file()


def _file(module: str) -> Path:
    path = _PACKAGE.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


class CodeDigests(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Hex SHA-256 over every file of the package, and of the workflow; None where there is no workflow beside it."""

    src: str
    workflow: str | None


@cache
def code_digests() -> CodeDigests:
    """Digests of all code, by the bytes of every file."""
    return CodeDigests(_digest(_PACKAGE.parent, _PACKAGE.rglob("*")), workflow_digest(_PACKAGE.parents[1]))


def workflow_digest(root: Path) -> str | None:
    """Hex SHA-256 over every file of the workflow in the checkout ``root``; None where there is none."""
    snakefile = root / "Snakefile"
    return _digest(root, [snakefile, *(root / "workflow").rglob("*")]) if snakefile.is_file() else None


def _digest(root: Path, paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(path for path in paths if path.is_file() and "__pycache__" not in path.parts):
        name = path.relative_to(root).as_posix()
        digest.update(f"{name}\n{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()
