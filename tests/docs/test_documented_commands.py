"""Every command that a document shows prints what the document says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .documented_commands import ROOT, Reader, commands_of

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENTS = [
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if commands_of(path.read_text(encoding="utf-8"))
]


def test_there_are_documents() -> None:
    assert "docs/tutorial.md" in DOCUMENTS


@pytest.mark.parametrize("name", DOCUMENTS)
def test_commands_print_what_the_document_says(name: str, tmp_path: Path) -> None:
    """After a wanted change: ``python tests/docs/documented_commands.py FILE`` writes what they print now."""
    reader = Reader(tmp_path)
    for documented in commands_of((ROOT / name).read_text(encoding="utf-8")):
        assert reader.type(documented.command) == documented.printed, (
            f"{name}:{documented.line}: $ {documented.command}"
        )
