"""Stage: a command that runs a distributed job -> trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.artifacts.files import check_suffix, write_artifact
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.artifacts.trace_table import to_stored
from commcanary.errors import StorageRefusal
from commcanary.sources.capture.importer import NothingRecorded
from commcanary.sources.capture.session import captured

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from commcanary.sources.capture.importer import Captured


def capture_stage(
    command: Sequence[str],
    output: Path,
    workload_name: str | None = None,
    auto: bool = False,
    allow_empty: bool = False,
    preserve_on_failure: Path | None = None,
) -> Captured | None:
    """Run ``command`` and write the trace of what its ranks recorded to ``output``.

    None, and no file, where nothing was recorded and ``allow_empty`` says that this is no fault: a trace has
    one event or more.
    """
    check_suffix(output)
    if output.is_dir():
        raise StorageRefusal("", "is a folder", "name a file; the command did not run", file=str(output))
    try:
        result = captured(command, output.parent, workload_name, auto, preserve_on_failure)
    except NothingRecorded:
        if allow_empty:
            return None
        raise
    write_artifact(output, TRACE, to_stored(result.trace))
    return result
