"""Stage: Flight Recorder dumps of one job -> trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.artifacts.files import check_suffix, write_artifact
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.artifacts.trace_table import to_stored
from commcanary.sources.flight_recorder.importer import import_flight_recorder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from commcanary.sources.calls.imported import Imported
    from commcanary.sources.flight_recorder.settings import FlightRecorderSettings


def import_flight_recorder_stage(dumps: Sequence[Path], output: Path, settings: FlightRecorderSettings) -> Imported:
    """Write the trace of ``dumps`` (of one rank or of all ranks of one job) to ``output``."""
    check_suffix(output)
    imported = import_flight_recorder(dumps, settings)
    write_artifact(output, TRACE, to_stored(imported.trace))
    return imported
