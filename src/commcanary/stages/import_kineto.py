"""Stage: Kineto profiles of one job -> trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.artifacts.files import check_suffix, write_artifact
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.artifacts.trace_table import to_stored
from commcanary.sources.kineto.importer import import_kineto

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from commcanary.sources.calls.imported import Imported
    from commcanary.sources.kineto.settings import KinetoSettings


def import_kineto_stage(profiles: Sequence[Path], output: Path, settings: KinetoSettings) -> Imported:
    """Write the trace of ``profiles`` (one or more ranks of one job) to ``output``."""
    check_suffix(output)
    imported = import_kineto(profiles, settings)
    write_artifact(output, TRACE, to_stored(imported.trace))
    return imported
