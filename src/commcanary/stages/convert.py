"""Stage: an artifact in one container -> the same artifact in the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.artifacts.files import check_suffix, read_artifact, write_artifact
from commcanary.stages.kinds import kind_of

if TYPE_CHECKING:
    from pathlib import Path


def convert_stage(source: Path, output: Path) -> str:
    """Write the artifact at ``source`` to ``output``; the content id, which stays the same, is returned."""
    check_suffix(output)
    kind = kind_of(source)
    stored = read_artifact(source, kind)
    write_artifact(output, kind, stored)
    return stored.content_id
