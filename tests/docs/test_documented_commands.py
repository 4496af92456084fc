"""Every command that a document shows prints what the document says."""

from __future__ import annotations

import re
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


_IDS = re.compile(r"(states|hashes to) [0-9a-f]{12}")
"""Content ids of reports: they hold the last bit of logarithms, which may differ between machines."""


def test_there_are_documents() -> None:
    assert "docs/tutorial.md" in DOCUMENTS


@pytest.mark.parametrize("name", DOCUMENTS)
def test_commands_print_what_the_document_says(name: str, tmp_path: Path) -> None:
    """After a wanted change: ``python tests/docs/documented_commands.py FILE`` writes what they print now."""
    reader = Reader(tmp_path)
    for documented in commands_of((ROOT / name).read_text(encoding="utf-8")):
        printed, expected = (_IDS.sub(r"\1 ID", t) for t in (reader.type(documented.command), documented.printed))
        assert printed == expected, f"{name}:{documented.line}: $ {documented.command}"
