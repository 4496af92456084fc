"""The writer of exports that resources/nsys holds, and small changes to what it wrote."""

from __future__ import annotations

import importlib.util
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).resolve().parents[3]


def _loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_nsys", ROOT / "resources" / "nsys" / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make: Any = _loaded()
two_ranks = make.two_ranks
ExportWriter = make.ExportWriter
WORLD = make.WORLD
REDUCE, GATHER, MESSAGES, GEMM = make.REDUCE, make.GATHER, make.MESSAGES, make.GEMM


def changed(path: Path, *statements: str) -> Path:
    """``path`` after some SQL."""
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return path
